// SPDX-License-Identifier: Apache-2.0
// The collections of one process summed up: by generation, their pauses as a distribution, the
// share of time over time. docs/gc.md says how each differs from PerfView's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/families/gc/gc_figures.h"

namespace clrscope::analysis {

// Nearest-rank percentiles: each is a value that occurred. -1 = there are none.
struct Percentiles {
  int64_t p50 = -1, p95 = -1, p99 = -1, max = -1;
};
Percentiles PercentilesOf(std::vector<int64_t> values);

// A row of the roll-up. Unknown parts are left out of sums: `…_known` counts what is in them.
struct GcRollup {
  int generation = -1;  // -1 = all
  int background = -1;  // 0 blocking and foreground, 1 background, -1 both
  uint64_t count = 0;
  uint64_t induced = 0;  // GC.Collect in all of its modes
  uint64_t compacting = 0;
  uint64_t pauses_known = 0;
  int64_t pause_ns = 0, max_pause_ns = -1, max_suspend_ns = -1;
  Percentiles pauses;
  int64_t max_peak_bytes = -1;
  uint64_t allocated_known = 0;
  int64_t allocated_bytes = 0;  // before these GCs, since the one before each
  double max_allocated_per_second = kUnknownPercent;
  uint64_t promoted_known = 0;
  int64_t promoted_bytes = 0;
  uint64_t pinned_known = 0;
  int64_t pinned_objects = 0;

  double mean_pause_ns() const;
  // Allocated for each nanosecond of these GCs' own pauses: PerfView divides everything that was
  // allocated by one generation's pauses.
  double allocated_per_pause_ns() const;
};

struct GcHistogramBucket {
  int64_t from_ns = 0, to_ns = 0;  // to_ns is not in it
  uint64_t count = 0;
};

struct GcShare {
  int64_t start_ns = 0, end_ns = 0;
  int64_t paused_ns = 0;
};

struct GcHeapCountChange {
  uint32_t gc = 0;
  int64_t time_ns = 0;
  int32_t from = 0, to = 0;
};

struct GcStats {
  std::vector<GcRollup> rollup;  // gen0, gen1, gen2, gen2 blocking, gen2 background, all
  const GcRollup& all() const { return rollup.back(); }
  Percentiles pauses, suspensions;
  std::vector<GcHistogramBucket> pause_histogram;  // steps 1, 2, 5; no empty one at either end
  int64_t span_ns = 0;                             // that was observed
  int64_t paused_ns = 0;                           // of it, by GCs whose pauses are known
  std::vector<GcShare> share;
  std::vector<GcHeapCountChange> heap_counts;  // DATAS
  int32_t max_heap_count = -1;
  // Suspensions that took more than ten times the median and at least a millisecond.
  std::vector<uint32_t> slow_suspensions;  // indexes
  uint64_t incomplete = 0, maybe_touched = 0;
  int64_t max_peak_bytes = -1;

  double paused_percent() const;
};

// `gcs` and `flows`: of one process, sorted by start; `from_ns`, `to_ns`: what was observed.
GcStats StatsOf(std::span<const profile::PackedGc> gcs, std::span<const GcFlow> flows,
                int64_t from_ns, int64_t to_ns);

}  // namespace clrscope::analysis
