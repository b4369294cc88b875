// SPDX-License-Identifier: Apache-2.0
// The end of an interval: its frame, sent or written as a profile.
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "agent/host/agent.h"
#include "agent/host/clock.h"
#include "base/loss.h"
#include "base/units.h"
#include "profile/interval/interval_codec.h"

namespace clrscope::agent {
namespace {

constexpr int kLastDrains = 50;

}  // namespace

size_t Agent::MemoryBytes() const {
  size_t bytes = collector_.memory_bytes() + code_.memory_bytes() + control_.memory_bytes();
  ShardPool::Get().ForEach([&](const Shard& s) { bytes += s.memory_bytes(); });
  return bytes + (live_ == nullptr ? 0 : live_->memory_bytes());
}

void Agent::EndInterval(bool last) {
  ResolveInSlices();
  TakeGcNotes();
  bool drained = Drain();
  for (int i = 0; last && !drained && i < kLastDrains; ++i) drained = Drain();
  if (last) TellOpenWaits();
  const int64_t now = Now();
  if (live_ != nullptr && !passes_.empty() && (drained || last)) ScanHandles(now);
  if (live_ != nullptr) Regrade();
  if (drained && collector_.wants_trim()) collector_.Trim(live_.get());
  const ShardTotals sums = SumShards();
  Listen(sums.samples - at_start_.samples);
  if (sums.samples == at_interval_.samples && is_deaf() && !paused_.load() && samples()) {
    if (deaf_since_ns_ == 0) deaf_since_ns_ = interval_start_ns_;
    ++deaf_intervals_;
  }
  if (!is_deaf()) deaf_since_ns_ = 0;
  profile::IntervalFrame f;
  f.sequence = sequence_++;
  f.start_unix_ns = start_unix_ns_;
  f.start_ns = interval_start_ns_;
  f.end_ns = now;
  f.pid = static_cast<uint32_t>(::getpid());
  f.runtime = runtime_;
  f.source = source_;
  f.live = live_ != nullptr;
  f.measures = Measures();
  f.last = last;
  f.trouble = Trouble();
  f.trouble_since_ns = TroubleSince();
  collector_.FillFrame(f);
  if (live_ != nullptr) {
    live_->TakeLives(now, f.lives);
    live_->TakeTurnover(f.turnover);
    if (tells_requests_) collector_.activities().FillFrame(*live_, f);
  }
  f.gcs = gcs_.TakeGcs();
  // Without allocations nobody tells of collections on the program's own threads.
  if (options_.allocations) {
    f.cpu = gc_threads_.Take();
    f.cpu.workstation_gc_ns =
        gcs_.TakeWorkstationNs([&](uint32_t thread) { return gc_threads_.IsGcThread(thread); });
  }

  meter_.samples = sums.samples - at_interval_.samples;
  meter_.sample_ns = sums.nanoseconds - at_interval_.nanoseconds;
  meter_.walk_fallbacks = sums.snapshots - at_interval_.snapshots;
  const int64_t cpu = ClockNs(CLOCK_THREAD_CPUTIME_ID);
  meter_.agent_cpu_ns = static_cast<uint64_t>(cpu - thread_cpu_ns_);
  thread_cpu_ns_ = cpu;
  meter_.agent_bytes = MemoryBytes();
  if (live_ != nullptr) {
    meter_.handles = live_->size();
    meter_.live_mean_bytes = live_->live_mean_bytes();
  }
  f.meter = meter_;
  TellBudget(f);
  meter_ = {};
  AddLosses(sums, f);
  at_interval_ = sums;
  interval_start_ns_ = now;
  if (control_.has_subscriber() && !control_.Send(profile::EncodeInterval(f))) {
    ++frames_dropped_;
    collector_.activities().Resend();
  }
  if (!options_.output.empty()) WriteSpool(f);
}

uint32_t Agent::Measures() const {
  using profile::Measure;
  const EventMeasures& told = event_sessions_.measures();
  uint32_t bits = 0;
  const auto add = [&](Measure m, bool on) { bits |= on ? 1u << static_cast<uint32_t>(m) : 0; };
  add(Measure::kAllocations, options_.allocations);
  add(Measure::kLive, live_ != nullptr);
  add(Measure::kGcCpu, options_.allocations);
  add(Measure::kExceptions, told.exceptions);
  add(Measure::kLocks, told.locks);
  add(Measure::kWaits, told.waits);
  return bits;
}

void Agent::TellOpenWaits() {
  (void)ResolveFrames(~uint32_t{0});
  const int64_t now = Now();
  ShardPool::Get().ForEach([&](Shard& s) {
    const auto tell = [&](OpenWait& wait, profile::Source source) {
      wait.Tell([&] {
        ShardKey key;
        key.event = source;
        key.owner = wait.owner();
        key.thread = s.thread_id.load(std::memory_order_relaxed);
        const auto ns = static_cast<uint64_t>(std::max<int64_t>(now - wait.start_ns(), 0));
        const bool known = wait.code() == sampler_->numbering();
        collector_.AddEvent(known ? wait.stack() : std::span<const uint32_t>(), key, {1, ns, 1},
                            /*unfinished=*/true);
      });
    };
    tell(s.waits.contention, profile::Source::kContention);
    tell(s.waits.wait, profile::Source::kWait);
  });
}

void Agent::AddLosses(const ShardTotals& sums, profile::IntervalFrame& f) {
  const auto lost = [&](Loss loss, uint64_t count) {
    if (count != 0) f.losses.emplace_back(Describe(loss).name, count);
  };
  lost(Loss::kAgentSamples, sums.full - at_interval_.full + sums.paused - at_interval_.paused +
                                sums.turned_away - at_interval_.turned_away);
  lost(Loss::kAgentObjects, sums.births_lost - at_interval_.births_lost + sums.handle_failed -
                                at_interval_.handle_failed);
  lost(Loss::kMissingStack,
       sums.snapshot_failed - at_interval_.snapshot_failed + sums.shallow - at_interval_.shallow);
  lost(Loss::kAgentAsyncCallers, sums.async_unknown() - at_interval_.async_unknown());
  lost(Loss::kAgentEvents, sums.events_lost - at_interval_.events_lost);
  lost(Loss::kExceptionTypesCapped, sums.types_capped - at_interval_.types_capped);
  lost(Loss::kWaitsUnended, sums.unended - at_interval_.unended);
  const SpoolThread::Counts files = spool_.counts();
  const std::pair<Loss, uint64_t> totals[] = {
      {Loss::kAgentGcEvents, gc_ring_.lost()},
      {Loss::kUnresolvedFrame, names_.unnamed_methods()},
      {Loss::kUnnamedType, names_.unnamed_types()},
      {Loss::kStackNodesCapped, collector_.overflowed()},
      {Loss::kThreadsCapped, collector_.threads_lost()},
      {Loss::kUnsupportedVersion, unknown_events_.load()},
      {Loss::kAgentTurnover, live_ == nullptr ? 0 : live_->lost_turnover()},
      {Loss::kTruncatedStack, collector_.truncated()},
      {Loss::kAgentUnloaded, collector_.unloaded()},
      {Loss::kAgentDeaf, deaf_intervals_},
      {Loss::kAgentNoSession,
       static_cast<uint64_t>(
           (session_.missing_ns(f.end_ns) + event_sessions_.missing_ns(f.end_ns)) / kMillisecond)},
      {Loss::kAgentFiles, files.failed + files.dropped}};
  lost_before_.resize(std::size(totals));
  for (size_t i = 0; i < std::size(totals); ++i)
    lost(totals[i].first, totals[i].second - std::exchange(lost_before_[i], totals[i].second));
}

void Agent::WriteSpool(const profile::IntervalFrame& f) {
  const std::string program = ProgramName();
  const std::string path =
      spool_names_.Next(options_.output, program, f.pid, f.start_unix_ns + f.end_ns);
  spool_.Post(path, EncodePprof(f, {names_.methods(), names_.types(), collector_.nodes()},
                                options_.labels, program));
  std::string cpu = EncodeGcCpuPprof(f, options_.labels, program);
  if (!cpu.empty()) spool_.Post(BeforeExtension(path, "-gccpu"), std::move(cpu));
}

}  // namespace clrscope::agent
