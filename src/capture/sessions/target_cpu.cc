// SPDX-License-Identifier: Apache-2.0
// CPU time: samples by the kernel, and once a second what the system says that threads have used.
// docs/decisions/0017-cpu.md
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "capture/agents/agent_cpu.h"
#include "capture/kernel/code_rules.h"
#include "capture/proc/thread_times.h"
#include "capture/sessions/cpu_stacks.h"
#include "capture/sessions/target.h"

namespace clrscope::capture {
namespace {

// Samples of a turn, so that other processes get theirs.
constexpr size_t kSamplesPerPump = 2'000;

class CpuSink final : public KernelSampler::Sink {
 public:
  CpuSink(CpuStacks* stacks, const RecordingClock* clock) : stacks_(*stacks), clock_(*clock) {}
  void OnSample(const CpuSample& s) override {
    stacks_.OnSample({static_cast<uint64_t>(s.tid), clock_.SinceStart(s.time_ns), s.period, s.user,
                      s.regs, s.stack, s.in_kernel, false});
  }
  void OnExec(int64_t) override { stacks_.OnExec(); }

 private:
  CpuStacks& stacks_;
  const RecordingClock& clock_;
};

}  // namespace

void Target::BeginCpu() {
  FlushCpu();
  fold_->cpu().Begin(cpu_->sees_kernel());
  cpu_stacks_ = std::make_unique<CpuStacks>(process_.pid, KnowCode(), &fold_->cpu(), RetireLater());
  fold_->TellCode(cpu_stacks_.get());
  if (options_.requests) fold_->requests().FollowRuns();
  cpu_lost_ = cpu_missed_ = 0;
  ReadCpuTimes(home_.clock->now_ns());
  if (!cpu_->sees_kernel())
    notes_.push_back(
        "time in the kernel cannot be sampled here: it is shown as [kernel], by how much of it "
        "each thread used (CAP_PERFMON or kernel.perf_event_paranoid=1 would allow it)");
}

bool Target::PumpCpu() {
  CpuSink sink(cpu_stacks_.get(), home_.clock);
  const bool any = cpu_->Read(sink, kSamplesPerPump);
  SeeMaps(cpu_stacks_->TakeMaps());
  const KernelSampler::Losses& losses = cpu_->losses();
  tables_->losses.Add(Loss::kCpuSamplesLost, losses.lost + losses.malformed - cpu_lost_);
  tables_->losses.Add(Loss::kCpuThreadsMissed, losses.unopened - cpu_missed_);
  cpu_lost_ = losses.lost + losses.malformed;
  cpu_missed_ = losses.unopened;
  return any;
}

void Target::AdvanceCpu() {
  const int64_t now_ns = home_.clock->now_ns();
  if (cpu_ != nullptr || agent_cpu_ != nullptr) LookAround(now_ns);
  if (cpu_ != nullptr) cpu_stacks_->Advance(now_ns, rundown_pending());
  if (agent_cpu_ != nullptr) agent_cpu_->Advance(now_ns, rundown_pending());
  if (CpuStacks* walked = WaitingStacks()) SeeMaps(walked->TakeMaps());
  if ((cpu_ != nullptr || agent_cpu_ != nullptr) && code_rules_->blind() &&
      !std::exchange(stacks_blind_told_, true))
    notes_.push_back(fmt::format(
        "stacks of process {} may lack callers: its memory may not be read, which takes the right "
        "to trace it (its user and kernel.yama.ptrace_scope=0, or CAP_SYS_PTRACE)",
        process_.pid));
}

// What the runtime tells of its code goes to who walks stacks, too.
CodeRules* Target::KnowCode() {
  if (code_rules_ == nullptr) {
    code_rules_ = std::make_unique<CodeRules>(std::make_unique<RemoteMemory>(process_.pid));
    fold_->TellCode(code_rules_.get());
  }
  return code_rules_.get();
}

std::function<void(uint64_t, uint64_t)> Target::RetireLater() {
  return [this](uint64_t start, uint64_t size) { fold_->RetireCode(start, size); };
}

CpuStacks* Target::WaitingStacks() {
  if (cpu_stacks_ != nullptr) return cpu_stacks_.get();
  return agent_cpu_ != nullptr ? &agent_cpu_->stacks() : nullptr;
}

void Target::FlushCpu() {
  if (cpu_stacks_ != nullptr) cpu_stacks_->Flush();
  if (agent_cpu_ != nullptr) agent_cpu_->Flush();
}

void Target::AddPolls(std::vector<pollfd>& polls) const {
  if (cpu_ != nullptr) cpu_->AddPolls(polls);
}

void Target::ReadCpuTimes(int64_t now_ns) {
  ThreadTimes times = ReadThreadTimes(process_.pid, !cpu_->sees_kernel());
  for (auto& t : times.threads) t.collector = gc_threads_.IsGcThread(t.thread);
  cpu_stacks_->OnTimes(now_ns, std::move(times));
}

// What is sampled by now is read before the system is asked for the last time.
void Target::StopCpu() {
  if (cpu_ == nullptr) return;
  cpu_->Stop();
  while (PumpCpu()) {
  }
  ReadCpuTimes(home_.clock->now_ns());
  cpu_.reset();
}

}  // namespace clrscope::capture
