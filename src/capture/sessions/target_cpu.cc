// SPDX-License-Identifier: Apache-2.0
// CPU time: samples by the kernel, and once a second what the system says that threads have used.
// docs/decisions/0017-cpu.md
#include <vector>

#include "capture/sessions/target.h"
#include "capture/sessions/thread_times.h"
#include "profile/stacks/made_up_frames.h"

namespace clrscope::capture {
namespace {

// Samples of a turn, so that other processes get theirs.
constexpr size_t kSamplesPerPump = 2'000;

class CpuSink final : public KernelSampler::Sink {
 public:
  CpuSink(analysis::CpuFold* fold, const RecordingClock* clock) : fold_(*fold), clock_(*clock) {}
  void OnSample(const CpuSample& s) override {
    addresses_.clear();
    if (s.in_kernel) addresses_.push_back(profile::kKernelAddress);
    const size_t natives = addresses_.size() + s.natives;
    addresses_.insert(addresses_.end(), s.user.begin(), s.user.end());
    fold_.OnSample({static_cast<uint64_t>(s.tid), clock_.SinceStart(s.time_ns), addresses_, natives,
                    s.repair == Repair::kNotRepairable, s.period});
  }

 private:
  analysis::CpuFold& fold_;
  const RecordingClock& clock_;
  std::vector<uint64_t> addresses_;
};

}  // namespace

void Target::BeginCpu() {
  fold_->cpu().Begin(cpu_->sees_kernel());
  if (options_.requests) fold_->requests().FollowRuns();
  cpu_lost_ = cpu_missed_ = 0;
  ReadCpuTimes(home_.clock->now_ns());
  if (!cpu_->sees_kernel())
    notes_.push_back(
        "time in the kernel cannot be sampled here: it is shown as [kernel], by how much of it "
        "each thread used (CAP_PERFMON or kernel.perf_event_paranoid=1 would allow it)");
}

bool Target::PumpCpu() {
  CpuSink sink(&fold_->cpu(), home_.clock);
  const bool any = cpu_->Read(sink, kSamplesPerPump);
  const KernelSampler::Losses& losses = cpu_->losses();
  tables_->losses.Add(Loss::kCpuSamplesLost, losses.lost + losses.malformed - cpu_lost_);
  tables_->losses.Add(Loss::kCpuThreadsMissed, losses.unopened - cpu_missed_);
  cpu_lost_ = losses.lost + losses.malformed;
  cpu_missed_ = losses.unopened;
  return any;
}

void Target::AddPolls(std::vector<pollfd>& polls) const {
  if (cpu_ != nullptr) cpu_->AddPolls(polls);
}

void Target::ReadCpuTimes(int64_t now_ns) {
  ThreadTimes times = ReadThreadTimes(process_.pid, !cpu_->sees_kernel());
  for (auto& t : times.threads) t.collector = gc_threads_.IsGcThread(t.thread);
  if (!times.threads.empty()) fold_->cpu().OnTimes(now_ns, times.threads, times.process_ns);
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
