// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/live/memory_growth.h"

#include <algorithm>
#include <cmath>

namespace clrscope::analysis {
namespace {

using profile::GcCommitted;
using profile::MemoryReading;
using profile::PackedGc;

GcMemory GcMemoryOf(int64_t at_ns, const GcCommitted& c, const profile::GcBytes& sizes) {
  constexpr int64_t kMost = int64_t{1} << 56;  // of damaged captures
  const int64_t loh = sizes[profile::kGcLoh], poh = sizes[profile::kGcPoh];
  return {at_ns, std::clamp<int64_t>(c.total(), 0, kMost),
          std::clamp<int64_t>(c.global_decommit + c.free + c.global_free, 0, kMost),
          loh < 0 ? -1 : std::min(loh, kMost) + std::clamp<int64_t>(poh, 0, kMost)};
}

// What the last collection before `to_ns` said.
GcMemory LastBefore(const profile::Profile& p, uint32_t process, int64_t to_ns) {
  GcMemory out;
  for (const PackedGc& gc : p.gcs) {
    if (gc.process != process || gc.start_ns > to_ns) continue;
    const profile::GcRecord r = gc.Unpack();
    if (r.committed_after.known() && r.end_ns >= 0 && r.end_ns <= to_ns)
      out = GcMemoryOf(r.end_ns, r.committed_after, r.size_after);
    else if (r.committed_before.known() && r.start_ns >= 0)
      out = GcMemoryOf(r.start_ns, r.committed_before, r.size_after);
  }
  return out;
}

// What the first one of the span said at its start.
GcMemory FirstWithin(const profile::Profile& p, uint32_t process, int64_t from_ns, int64_t to_ns) {
  for (const PackedGc& gc : p.gcs) {
    if (gc.process != process || gc.start_ns < from_ns || gc.start_ns > to_ns) continue;
    if (const profile::GcRecord r = gc.Unpack(); r.committed_before.known())
      return GcMemoryOf(r.start_ns, r.committed_before, r.size_after);
  }
  return {};
}

// At most, as samples tell: rows are of a second, of more where they are old, and count as a whole.
// Between windows of time anything may have been allocated.
std::optional<int64_t> AllocatedBetween(const profile::Profile& p, uint32_t process,
                                        int64_t from_ns, int64_t to_ns) {
  const profile::Process& info = p.processes[process];
  if (!info.Recorded(profile::Measure::kAllocations) || info.dropped) return {};
  profile::Estimate sum;
  for (const profile::TimeRow& row : p.figures.front().times)
    if (row.process == process && row.end_ns > from_ns && row.start_ns < to_ns) sum += row.value;
  if (sum.windows.get() != nullptr) return {};
  // Each heap of the GC may have allocated as much of each kind since its last tick.
  constexpr uint32_t kKinds = 3;
  const double high = sum.biased ? sum.amount + profile::kSamplingMeanBytes * kKinds *
                                                    std::max(1u, info.counting.gc_heaps)
                                 : AmountInterval(sum).high;
  constexpr double kMost = 1e17;  // of damaged captures
  return std::llround(std::clamp(high, profile::kSamplingMeanBytes, kMost));
}

std::optional<int64_t> GcAtMost(const MemoryGrowth& m, const profile::Profile& p,
                                uint32_t process) {
  const auto allocated = [&](int64_t from_ns, int64_t to_ns) {
    return AllocatedBetween(p, process, from_ns, to_ns);
  };
  if (!m.gc_to.known()) return allocated(m.from.at_ns, m.to.at_ns);
  const std::optional<int64_t> since = allocated(m.gc_to.at_ns, m.to.at_ns);
  const std::optional<int64_t> until = m.gc_from.at_ns > m.from.at_ns
                                           ? allocated(m.from.at_ns, m.gc_from.at_ns)
                                           : std::optional<int64_t>(0);
  if (!since || !until || !m.gc_from.known() || m.gc_from.large_bytes < 0) return {};
  const int64_t most = m.gc_to.committed_bytes + std::max<int64_t>(*since - m.gc_to.free_bytes, 0);
  const int64_t least =
      m.gc_from.committed_bytes - m.gc_from.free_bytes - m.gc_from.large_bytes - *until;
  return std::max<int64_t>(most - std::max<int64_t>(least, 0), 0);
}

}  // namespace

int64_t MemoryGrowth::noise() const {
  // Of each thread, before Linux 6.2; of each CPU since then, where there are 32 or fewer.
  // Source: Linux mm/memory.c, TASK_RSS_EVENTS_THRESH; lib/percpu_counter.c, percpu_counter_batch
  constexpr int64_t kPages = 64, kPageBytes = 4096;
  return kPages * kPageBytes * std::max<int64_t>({from.threads, to.threads, 1});
}

bool MemoryGrowth::notable() const {
  constexpr int64_t kOfARecording = int64_t{8} << 20;  // buffers of sessions, the agent's tables
  constexpr int64_t kPart = 20;
  return grown() > std::max({noise(), kOfARecording, from.total() / kPart});
}

bool MemoryGrowth::mostly_outside() const {
  return notable() && gc_at_most && 2 * (grown() - *gc_at_most - noise()) > grown();
}

bool MemoryGrowth::mostly_free() const {
  if (!notable() || !gc_to.known() || !gc_from.known() || !live_bytes) return false;
  // What was committed long before the span is no growth of the span.
  if (from.at_ns - gc_from.at_ns > (to.at_ns - from.at_ns) / 4) return false;
  const int64_t gc = std::min(gc_to.committed_bytes - gc_from.committed_bytes, grown());
  return 2 * gc > grown() && 2 * *live_bytes < gc;
}

std::optional<MemoryGrowth> MemoryGrowthOf(const profile::Profile& profile, uint32_t process,
                                           int64_t from_ns, int64_t to_ns) {
  const MemoryReading *from = nullptr, *to = nullptr;
  for (const MemoryReading& r : profile.processes[process].memory) {
    if (r.at_ns < from_ns || r.at_ns > to_ns) continue;
    if (from == nullptr) from = &r;
    to = &r;
  }
  if (from == to) return {};
  MemoryGrowth out{*from, *to, {}, {}, {}};
  out.gc_to = LastBefore(profile, process, to->at_ns);
  out.gc_from = LastBefore(profile, process, from->at_ns);
  if (!out.gc_from.known()) out.gc_from = FirstWithin(profile, process, from->at_ns, to->at_ns);
  out.gc_at_most = GcAtMost(out, profile, process);
  return out;
}

}  // namespace clrscope::analysis
