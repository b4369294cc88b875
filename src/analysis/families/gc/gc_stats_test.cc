// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/gc/gc_stats.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/units.h"

namespace clrscope::analysis {
namespace {

using profile::GcRecord;

GcRecord GcAt(uint32_t number, int32_t generation, int64_t start_ms, int64_t pause_ms,
              int32_t reason = 0, int32_t type = 0) {
  GcRecord r;
  r.number = number;
  r.generation = generation;
  r.reason = reason;
  r.type = type;
  r.pause_start_ns = r.start_ns = start_ms * kMillisecond;
  r.pause_ns = pause_ms * kMillisecond;
  r.restart_ns = r.end_ns = r.start_ns + r.pause_ns;
  r.suspend_ns = r.longest_suspend_ns = kMillisecond / 10;
  r.flags = profile::kGcComplete;
  return r;
}

GcFlow Allocated(int64_t bytes, int64_t promoted) {
  GcFlow f;
  f.allocated_bytes = bytes;
  f.promoted_bytes = promoted;
  return f;
}

TEST(Percentiles, AreValuesThatOccurred) {
  std::vector<int64_t> v;
  for (int64_t i = 100; i >= 1; --i) v.push_back(i);
  const Percentiles p = PercentilesOf(v);
  EXPECT_EQ(p.p50, 50);
  EXPECT_EQ(p.p95, 95);
  EXPECT_EQ(p.p99, 99);
  EXPECT_EQ(p.max, 100);
  EXPECT_EQ(PercentilesOf({7}).p50, 7);
  EXPECT_EQ(PercentilesOf({7, 8}).p50, 7);
  EXPECT_EQ(PercentilesOf({7, 8}).p95, 8);
  EXPECT_EQ(PercentilesOf({}).max, -1);
}

TEST(GcStats, RollupDividesEachGenerationsAllocationByItsOwnPauses) {
  const profile::GcRecords gcs = {GcAt(1, 0, 100, 10), GcAt(2, 0, 200, 30), GcAt(3, 1, 300, 20),
                                  GcAt(4, 2, 400, 5, 1), GcAt(5, 2, 500, 1, 10, 1)};
  const std::vector<GcFlow> figures = {Allocated(100, 1), Allocated(300, 2), Allocated(-1, 3),
                                       Allocated(50, -1), Allocated(5, 5)};
  const GcStats s = StatsOf(gcs, figures, 0, 1000 * kMillisecond);
  ASSERT_EQ(s.rollup.size(), 6u);
  const GcRollup &gen0 = s.rollup[0], &gen1 = s.rollup[1], &gen2 = s.rollup[2],
                 &blocking = s.rollup[3], &background = s.rollup[4];
  EXPECT_EQ(gen0.count, 2u);
  EXPECT_EQ(gen0.pause_ns, 40 * kMillisecond);
  EXPECT_DOUBLE_EQ(gen0.mean_pause_ns(), 20.0 * kMillisecond);
  EXPECT_EQ(gen0.max_pause_ns, 30 * kMillisecond);
  EXPECT_DOUBLE_EQ(gen0.allocated_per_pause_ns() * kMillisecond, 10);
  EXPECT_EQ(gen1.allocated_known, 0u);
  EXPECT_TRUE(std::isnan(gen1.allocated_per_pause_ns()));
  EXPECT_EQ(gen2.count, 2u);
  EXPECT_EQ(gen2.induced, 2u) << "compacting ones too";
  EXPECT_EQ(gen2.promoted_bytes, 5);
  EXPECT_EQ(gen2.promoted_known, 1u);
  EXPECT_EQ(blocking.count, 1u);
  EXPECT_EQ(background.count, 1u);
  EXPECT_EQ(s.all().count, 5u);
  EXPECT_EQ(s.all().allocated_bytes, 455);
  EXPECT_EQ(s.paused_ns, 66 * kMillisecond);
  EXPECT_DOUBLE_EQ(s.paused_percent(), 6.6);
}

TEST(GcStats, UnknownPausesAreInNoSum) {
  profile::GcRecords gcs = {GcAt(1, 0, 100, 10), GcAt(2, 0, 200, 30)};
  gcs[1].pause_ns = -1;
  gcs[1].flags = profile::kGcMaybeTouched;
  const GcStats s = StatsOf(gcs, std::vector<GcFlow>(2), 0, 1000 * kMillisecond);
  EXPECT_EQ(s.all().count, 2u);
  EXPECT_EQ(s.all().pauses_known, 1u);
  EXPECT_DOUBLE_EQ(s.all().mean_pause_ns(), 10.0 * kMillisecond);
  EXPECT_EQ(s.incomplete, 1u);
  EXPECT_EQ(s.maybe_touched, 1u);
}

TEST(GcStats, HistogramCountsEveryPauseOnceInStepsOfOneTwoFive) {
  profile::GcRecords gcs;
  const int64_t pauses[] = {1, 1, 2, 4, 5, 9, 10, 19, 20, 250};
  for (uint32_t i = 0; i < std::size(pauses); ++i)
    gcs.push_back(GcAt(i + 1, 0, i * 300, pauses[i]));
  const GcStats s = StatsOf(gcs, std::vector<GcFlow>(gcs.size()), 0, 4000 * kMillisecond);
  std::vector<std::array<int64_t, 3>> got;
  for (const GcHistogramBucket& b : s.pause_histogram)
    got.push_back(
        {b.from_ns / kMillisecond, b.to_ns / kMillisecond, static_cast<int64_t>(b.count)});
  EXPECT_EQ(got, (std::vector<std::array<int64_t, 3>>{{1, 2, 2},
                                                      {2, 5, 2},
                                                      {5, 10, 2},
                                                      {10, 20, 2},
                                                      {20, 50, 1},
                                                      {50, 100, 0},
                                                      {100, 200, 0},
                                                      {200, 500, 1}}));
}

TEST(GcStats, ShareOverTimeAddsUpToThePauses) {
  profile::GcRecords gcs = {GcAt(1, 0, 50, 100), GcAt(2, 0, 9'990, 10), GcAt(3, 0, 395, 210)};
  std::swap(gcs[1], gcs[2]);
  const GcStats s = StatsOf(gcs, std::vector<GcFlow>(3), 0, 10'000 * kMillisecond);
  ASSERT_EQ(s.share.size(), 100u);
  EXPECT_EQ(s.share[0].paused_ns, 50 * kMillisecond);
  EXPECT_EQ(s.share[1].paused_ns, 50 * kMillisecond);
  EXPECT_EQ(s.share[3].paused_ns, 5 * kMillisecond);
  EXPECT_EQ(s.share[4].paused_ns, 100 * kMillisecond);
  EXPECT_EQ(s.share[5].paused_ns, 100 * kMillisecond);
  EXPECT_EQ(s.share[6].paused_ns, 5 * kMillisecond);
  int64_t sum = 0;
  for (const GcShare& b : s.share) sum += b.paused_ns;
  EXPECT_EQ(sum, s.paused_ns);
}

TEST(GcStats, HeapCountChangesAreListed) {
  profile::GcRecords gcs;
  const int32_t heaps[] = {1, 1, -1, 4, 4, 2};
  for (uint32_t i = 0; i < std::size(heaps); ++i) {
    gcs.push_back(GcAt(i + 1, 0, i * 10, 1));
    gcs.back().heap_count = heaps[i];
  }
  const GcStats s = StatsOf(gcs, std::vector<GcFlow>(gcs.size()), 0, 100 * kMillisecond);
  ASSERT_EQ(s.heap_counts.size(), 2u);
  EXPECT_EQ(s.heap_counts[0].gc, 4u);
  EXPECT_EQ(s.heap_counts[0].from, 1);
  EXPECT_EQ(s.heap_counts[0].to, 4);
  EXPECT_EQ(s.heap_counts[1].to, 2);
  EXPECT_EQ(s.max_heap_count, 4);
}

TEST(GcStats, SlowSuspensionsStandOutAgainstTheMedian) {
  profile::GcRecords gcs;
  for (uint32_t i = 0; i < 20; ++i) gcs.push_back(GcAt(i + 1, 0, i * 10, 1));
  gcs[7].longest_suspend_ns = 5 * kMillisecond;
  gcs[8].longest_suspend_ns = kMillisecond / 2;  // unusual, but nobody notices
  const GcStats s = StatsOf(gcs, std::vector<GcFlow>(gcs.size()), 0, 1000 * kMillisecond);
  EXPECT_EQ(s.slow_suspensions, (std::vector<uint32_t>{7}));
}

TEST(GcStats, NothingGivesNothing) {
  const GcStats s = StatsOf({}, {}, 0, 0);
  EXPECT_EQ(s.all().count, 0u);
  EXPECT_TRUE(std::isnan(s.paused_percent()));
  EXPECT_TRUE(s.pause_histogram.empty());
  EXPECT_TRUE(s.share.empty());
}

}  // namespace
}  // namespace clrscope::analysis
