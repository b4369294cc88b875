// SPDX-License-Identifier: Apache-2.0
// The end of an interval: its frame, sent or written as a profile.
#include <unistd.h>

#include "agent/agent.h"
#include "agent/clock.h"
#include "base/loss.h"
#include "profile/interval_codec.h"

namespace clrscope::agent {
namespace {

constexpr int kLastDrains = 50;

std::string NameOf(Loss loss) { return std::string(Describe(loss).name); }

}  // namespace

void Agent::EndInterval(bool last) {
  ResolveInSlices();
  bool drained = Drain();
  for (int i = 0; last && !drained && i < kLastDrains; ++i) drained = Drain();
  const int64_t now = Now();
  if (live_ != nullptr && !passes_.empty() && (drained || last)) ScanHandles(now);
  if (live_ != nullptr) Regrade();
  profile::IntervalFrame f;
  f.sequence = sequence_++;
  f.start_unix_ns = start_unix_ns_;
  f.start_ns = interval_start_ns_;
  f.end_ns = now;
  f.pid = static_cast<uint32_t>(::getpid());
  f.runtime = runtime_;
  f.source = source_;
  f.live = live_ != nullptr;
  f.last = last;
  collector_.FillFrame(f);
  if (live_ != nullptr) {
    live_->TakeLives(now, f.lives);
    live_->TakeTurnover(f.turnover);
  }
  f.gcs = gcs_.TakeGcs();
  f.cpu = gc_threads_.Take();
  f.cpu.workstation_gc_ns =
      gcs_.TakeWorkstationNs([&](uint32_t thread) { return gc_threads_.IsGcThread(thread); });

  const ShardTotals sums = SumShards();
  meter_.samples = sums.samples - at_interval_.samples;
  meter_.sample_ns = sums.nanoseconds - at_interval_.nanoseconds;
  meter_.walk_fallbacks = sums.snapshots - at_interval_.snapshots;
  const int64_t cpu = ClockNs(CLOCK_THREAD_CPUTIME_ID);
  meter_.agent_cpu_ns = static_cast<uint64_t>(cpu - thread_cpu_ns_);
  thread_cpu_ns_ = cpu;
  meter_.agent_bytes = collector_.memory_bytes() + code_.memory_bytes();
  ShardPool::Get().ForEach([&](const Shard& s) { meter_.agent_bytes += s.memory_bytes(); });
  if (live_ != nullptr) {
    meter_.agent_bytes += live_->memory_bytes();
    meter_.handles = live_->size();
    meter_.live_mean_bytes = live_->live_mean_bytes();
  }
  f.meter = meter_;
  meter_ = {};
  const auto lost = [&](const std::string& name, uint64_t count) {
    if (count != 0) f.losses.emplace_back(name, count);
  };
  lost(NameOf(Loss::kAgentSamples),
       sums.full - at_interval_.full + sums.paused - at_interval_.paused);
  lost(NameOf(Loss::kAgentObjects), sums.births_lost - at_interval_.births_lost +
                                        sums.handle_failed - at_interval_.handle_failed);
  lost(NameOf(Loss::kMissingStack), sums.snapshot_failed - at_interval_.snapshot_failed);
  std::vector<std::pair<std::string, uint64_t>> totals = {
      {NameOf(Loss::kAgentGcEvents), gc_ring_.lost()},
      {NameOf(Loss::kUnresolvedFrame), names_.unnamed_methods()},
      {NameOf(Loss::kUnnamedType), names_.unnamed_types()},
      {NameOf(Loss::kStackNodesCapped), collector_.overflowed()},
      {NameOf(Loss::kUnsupportedVersion), unknown_events_.load()},
      {NameOf(Loss::kAgentTurnover), live_ == nullptr ? 0 : live_->lost_turnover()}};
  for (size_t i = 0; i < totals.size(); ++i)
    lost(totals[i].first,
         totals[i].second - (i < lost_before_.size() ? lost_before_[i].second : 0));
  lost_before_ = std::move(totals);
  at_interval_ = sums;
  interval_start_ns_ = now;
  if (control_.has_subscriber() && !control_.Send(profile::EncodeInterval(f))) ++frames_dropped_;
  if (!options_.output.empty()) WriteSpool(f);
}

void Agent::WriteSpool(const profile::IntervalFrame& f) {
  const std::string path =
      spool_names_.Next(options_.output, ProgramName(), f.pid, f.start_unix_ns + f.end_ns);
  const auto write = [&](const std::string& to, const std::string& bytes) {
    const Status s = WriteAtomically(to, bytes);
    s.ok() ? ++spooled_ : ++spool_failed_;
    if (!s.ok()) failure_ = s.error().message;
  };
  write(path,
        EncodePprof(f, {names_.methods(), names_.types(), collector_.nodes()}, options_.labels));
  const std::string cpu = EncodeGcCpuPprof(f, options_.labels);
  if (!cpu.empty()) write(BeforeExtension(path, "-gccpu"), cpu);
}

}  // namespace clrscope::agent
