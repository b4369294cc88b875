// SPDX-License-Identifier: Apache-2.0
// CPU time: samples by the kernel or by stops, and once a second what the system says that threads
// have used.
// docs/decisions/0017-cpu.md
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "capture/kernel/code_rules.h"
#include "capture/kernel/trace_right.h"
#include "capture/proc/thread_times.h"
#include "capture/sessions/cpu_stacks.h"
#include "capture/sessions/target.h"

namespace clrscope::capture {
namespace {

// Samples of a turn, so that other processes get theirs.
constexpr size_t kSamplesPerPump = 2'000;

constexpr int64_t kLookEveryNs = 20'000'000;  // at what a process has used
// From the end of a process's sessions to its own.
constexpr int64_t kEndPatienceNs = 2'000'000'000;

class CpuSink final : public KernelSampler::Sink {
 public:
  CpuSink(CpuStacks* stacks, const RecordingClock* clock, bool* replaced)
      : stacks_(*stacks), clock_(*clock), replaced_(*replaced) {}
  void OnSample(const CpuSample& s) override {
    stacks_.OnSample({static_cast<uint64_t>(s.tid), clock_.SinceStart(s.time_ns), s.period, s.user,
                      s.truncated, s.regs, s.stack, s.in_kernel});
  }
  void OnExec(int64_t) override {
    replaced_ = true;
    stacks_.OnExec();
  }

 private:
  CpuStacks& stacks_;
  const RecordingClock& clock_;
  bool& replaced_;  // by another program
};

class StopSink final : public StopSampler::Sink {
 public:
  StopSink(CpuStacks* stacks, const RecordingClock* clock) : stacks_(*stacks), clock_(*clock) {}
  void OnSample(const StopSample& s) override {
    stacks_.OnSample({static_cast<uint64_t>(s.thread), clock_.SinceStart(s.time_ns), s.period_ns,
                      s.chain, s.truncated, s.regs, s.stack, s.in_kernel});
  }

 private:
  CpuStacks& stacks_;
  const RecordingClock& clock_;
};

}  // namespace

void Target::BeginCpu() {
  FlushCpu();
  if (stops_ != nullptr) stops_->Start();
  // A thread that stops at the end of a system call was in the kernel.
  fold_->cpu().Leave(home_.clock->now_ns());
  fold_->cpu().Begin(/*kernel_told=*/cpu_ == nullptr || cpu_->sees_kernel());
  cpu_stacks_ = std::make_unique<CpuStacks>(process_.pid, KnowCode(), &fold_->cpu(), RetireLater());
  fold_->TellCode(cpu_stacks_.get());
  if (options_.requests) fold_->requests().FollowRuns();
  cpu_lost_ = cpu_missed_ = 0;
  process_clock_ = {};
  replaced_ = false;
  ReadCpuTimes(home_.clock->now_ns());
  if (cpu_ != nullptr && !cpu_->sees_kernel())
    notes_.push_back(
        "time in the kernel cannot be sampled here: it is shown as [kernel], by how much of it "
        "each thread used (CAP_PERFMON or kernel.perf_event_paranoid=1 would allow it)");
}

bool Target::PumpCpu() {
  const bool any = cpu_ != nullptr ? PumpKernelSamples() : PumpStops();
  SeeMaps(cpu_stacks_->TakeMaps());
  return any;
}

bool Target::PumpKernelSamples() {
  CpuSink sink(cpu_stacks_.get(), home_.clock, &replaced_);
  const bool any = cpu_->Read(sink, kSamplesPerPump);
  const KernelSampler::Losses& losses = cpu_->losses();
  NoteCpuLosses(losses.lost + losses.malformed, losses.unopened);
  return any;
}

bool Target::PumpStops() {
  StopSink sink(cpu_stacks_.get(), home_.clock);
  const bool any = stops_->Read(sink);
  const StopSampler::Figures figures = stops_->figures();
  // Another tracer came, or another clrscope has the permission that Yama wants.
  if (figures.refused != 0 && !std::exchange(stops_refused_told_, true)) {
    if (const auto refusal = WhyNotTraced(process_.pid))
      notes_.push_back(fmt::format("CPU time is not sampled any more: {}", refusal->why));
  }
  NoteCpuLosses(figures.lost, figures.refused);
  return any;
}

// Since sampling began.
void Target::NoteCpuLosses(uint64_t lost, uint64_t missed) {
  tables_->losses.Add(Loss::kCpuSamplesLost, lost - cpu_lost_);
  tables_->losses.Add(Loss::kCpuThreadsMissed, missed - cpu_missed_);
  cpu_lost_ = lost;
  cpu_missed_ = missed;
}

void Target::AdvanceCpu() {
  const int64_t now_ns = home_.clock->now_ns();
  if (samples_cpu()) {
    LookAround(now_ns);
    if (now_ns - process_clock_.at_ns >= kLookEveryNs) FollowProcessClock(now_ns);
    cpu_stacks_->Advance(now_ns, rundown_pending());
  }
  if (cpu_stacks_ != nullptr) SeeMaps(cpu_stacks_->TakeMaps());
  if (samples_cpu() && code_rules_->blind() && !std::exchange(stacks_blind_told_, true)) {
    const auto refusal = WhyNotRead(process_.pid);
    notes_.push_back(
        fmt::format("stacks of process {} may lack callers: its memory may not be read{}",
                    process_.pid, refusal ? ": " + refusal->error().message : ""));
  }
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

void Target::FlushCpu() {
  if (cpu_stacks_ != nullptr) cpu_stacks_->Flush();
}

void Target::AddPolls(std::vector<pollfd>& polls) const {
  if (cpu_ != nullptr) cpu_->AddPolls(polls);
}

void Target::ReadCpuTimes(int64_t now_ns) {
  ThreadTimes times = ReadThreadTimes(process_.pid, cpu_ != nullptr && !cpu_->sees_kernel());
  for (auto& t : times.threads) t.collector = gc_threads_.IsGcThread(t.thread);
  FollowProcessClock(now_ns);
  if (!times.threads.empty()) process_clock_.read = process_clock_.ticks;
  cpu_stacks_->OnTimes(now_ns, std::move(times));
}

// What a process uses long after its sessions is not of the recording.
void Target::NoteEnd() {
  if (!samples_cpu() || process_clock_.ended) return;
  const int64_t now_ns = home_.clock->now_ns();
  if (state_ != State::kEnded || now_ns - sessions_ended_ns_ < kEndPatienceNs) {
    while (PumpCpu()) {
    }
    FollowProcessClock(now_ns);
  }
  EndProcessClock();
}

void Target::FollowProcessClock(int64_t now_ns) {
  ProcessClock& clock = process_clock_;
  if (clock.ended) return;
  const int64_t ns = ProcessCpuNs(process_.pid);
  if (ns < 0) return EndProcessClock();
  if (ns < clock.cpu_ns) return;  // another process has its number
  clock.at_ns = now_ns;
  clock.cpu_ns = ns;
  if (cpu_ == nullptr || cpu_->sees_kernel()) return;
  if (const auto ticks = ReadProcessTicks(process_.pid)) clock.ticks = *ticks;
}

// Of a process that has ended nobody can read what it used: what came after the last look is told
// by the samples alone.
void Target::EndProcessClock() {
  ProcessClock& clock = process_clock_;
  if (std::exchange(clock.ended, true) || clock.cpu_ns < 0) return;
  const auto ticks = static_cast<double>(clock.ticks.all - clock.read.all);
  const auto system = static_cast<double>(clock.ticks.system - clock.read.system);
  cpu_stacks_->OnEnd(clock.at_ns, clock.cpu_ns,
                     ticks > 0 ? std::clamp(system / ticks, 0.0, 1.0) : 0);
}

// Its sessions ended by themselves: it ends, as a rule, and has its last reading when it has. One
// that has become another program is no concern of ours.
void Target::EndCpu() {
  if (!samples_cpu()) return;
  while (PumpCpu()) {
  }
  sessions_ended_ns_ = home_.clock->now_ns();
  FollowProcessClock(sessions_ended_ns_);
  if (!replaced_) return;
  EndProcessClock();
  cpu_.reset();
}

void Target::StopStops() {
  if (stops_ != nullptr) StopCpu();
}

// What is sampled by now is read before the system is asked for the last time.
void Target::StopCpu() {
  if (!samples_cpu()) return;
  if (cpu_ != nullptr) cpu_->Stop();
  if (stops_ != nullptr) stops_->Stop();
  while (PumpCpu()) {
  }
  ReadCpuTimes(home_.clock->now_ns());
  if (state_ == State::kEnded) EndProcessClock();
  cpu_.reset();
  stops_.reset();
}

}  // namespace clrscope::capture
