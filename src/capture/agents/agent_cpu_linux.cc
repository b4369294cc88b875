// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/fd.h"
#include "base/thread_file.h"
#include "capture/agents/agent_cpu.h"
#include "capture/kernel/perf_open.h"
#include "capture/proc/thread_times.h"
#include "ipc/processes/proc_text.h"

namespace clrscope::capture {
namespace {

constexpr double kAsAsked = 0.9;  // of the samples: fewer are told
constexpr uint64_t kEnoughToSay = 200;

}  // namespace

uint64_t ThreadNumbers::OuterOf(uint32_t inner) {
  if (inner_pid_ == 0 || inner_pid_ == pid_) return inner;
  if (const auto it = outer_.find(inner); it != outer_.end()) return it->second;
  Look();
  return outer_.try_emplace(inner, inner).first->second;
}

void ThreadNumbers::Look() {
  const Fd tasks(
      ::open(fmt::format("/proc/{}/task", pid_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  char room[4096];
  for (const pid_t thread : ThreadsOf(pid_)) {
    const std::string_view text =
        ReadThreadFile(tasks.get(), static_cast<uint64_t>(thread), "status", room);
    if (const pid_t inner = ipc::ParseProcStatus(text).inner_pid; inner > 0)
      outer_[static_cast<uint32_t>(inner)] = static_cast<uint64_t>(thread);
  }
}

AgentCpu::AgentCpu(pid_t pid, pid_t inner_pid, uint32_t hz, analysis::CpuFold* fold,
                   const RecordingClock* clock, profile::ProcessTables* tables,
                   const GcThreads* collectors, CodeRules* rules, CpuStacks::Retire retire)
    : pid_(pid),
      hz_(hz),
      fold_(*fold),
      clock_(*clock),
      tables_(*tables),
      collectors_(*collectors),
      numbers_(pid, inner_pid),
      stacks_(pid, rules, fold, std::move(retire)),
      from_ns_(Clock::System().monotonic_ns()) {
  // A sample that comes on the way back from a system call is of its time in the kernel.
  fold_.Begin(/*kernel_told=*/true);
  Tick(clock_.now_ns());
}

void AgentCpu::OnBatch(Bytes bytes) {
  if (ended_) return;
  const Result<profile::CpuBatchHead> head = profile::DecodeCpuBatch(
      bytes, [this](const profile::CpuBatchSample& sample) { OnSample(sample); });
  if (!head.ok()) {
    tables_.losses.Add(Loss::kCpuSamplesLost);
    notes_.push_back(fmt::format("process {}: {}", pid_, head.error().message));
    return;
  }
  OnHead(*head);
  if (head->last) End();
}

void AgentCpu::OnHead(const profile::CpuBatchHead& head) {
  if (!any_ && head.own_thread != 0) fold_.SetOwn(numbers_.OuterOf(head.own_thread));
  if (!any_ && head.tick_ns > head.period_ns)
    notes_.push_back(fmt::format(
        "the kernel looks at CPU clocks every {:.3g} ms: the agent takes at most {:.0f} samples "
        "for each second of CPU time, not {}",
        static_cast<double>(head.tick_ns) / 1e6, 1e9 / static_cast<double>(head.tick_ns), hz_));
  any_ = true;
  const auto news = [](uint64_t now, uint64_t before) { return now > before ? now - before : 0; };
  tables_.losses.Add(Loss::kCpuSamplesLost, news(head.lost, head_.lost));
  // What threads use that have its signal blocked is (not sampled), under their numbers.
  tables_.losses.Add(Loss::kCpuThreadsMissed, news(head.missed, head_.missed));
  if (head.missed != 0 && head_.missed == 0)
    notes_.push_back(fmt::format(
        "process {} has threads that the agent could not sample: as many timers as half of the "
        "user's limit of pending signals (ulimit -i), or 4,096, are in use",
        pid_));
  head_ = head;
}

void AgentCpu::OnSample(const profile::CpuBatchSample& s) {
  if (s.time_ns < from_ns_) return;
  user_.assign(1, s.ip);
  user_.insert(user_.end(), s.chain.begin(), s.chain.end());
  UserRegs regs;
  regs.known = true;
  regs.fp = s.bp;
  regs.sp = s.sp;
  regs.ip = s.ip;
  const uint64_t period = 1'000'000'000 / std::max<uint32_t>(hz_, 1);
  stacks_.OnSample({numbers_.OuterOf(s.thread),
                    clock_.SinceStart(s.time_ns),
                    period * s.periods,
                    user_,
                    regs,
                    {s.stack.data(), s.stack.size()},
                    s.in_kernel,
                    s.cut});
  ++samples_;
  periods_ += s.periods;
}

void AgentCpu::Tick(int64_t now_ns) {
  if (ended_) return;
  ThreadTimes times = ReadThreadTimes(pid_, false);
  for (auto& t : times.threads) t.collector = collectors_.IsGcThread(t.thread);
  stacks_.OnTimes(now_ns, std::move(times));
}

void AgentCpu::End() {
  if (ended_) return;
  Tick(clock_.now_ns());
  ended_ = true;
  if (head_.tick_ns > head_.period_ns || periods_ < kEnoughToSay) return;  // told before
  if (static_cast<double>(samples_) < kAsAsked * static_cast<double>(periods_))
    notes_.push_back(fmt::format(
        "process {} was sampled {:.0f} times for each second of CPU time, not {}: signals that "
        "came together count as one",
        pid_,
        static_cast<double>(hz_) * static_cast<double>(samples_) / static_cast<double>(periods_),
        hz_));
}

}  // namespace clrscope::capture
