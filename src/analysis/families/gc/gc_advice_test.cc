// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/gc/gc_advice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/units.h"

namespace clrscope::analysis {
namespace {

using profile::GcFacts;
using profile::GcRecord;
using profile::kGcLoh;

constexpr int64_t kMiB = 1 << 20;

GcRecord Gc(uint32_t number, int32_t generation, int32_t reason = 0, int64_t pause_ms = 10) {
  GcRecord r;
  r.number = number;
  r.generation = generation;
  r.reason = reason;
  r.type = 0;
  r.pause_start_ns = r.start_ns = int64_t{number} * 1000 * kMillisecond;
  r.pause_ns = pause_ms * kMillisecond;
  r.restart_ns = r.end_ns = r.start_ns + r.pause_ns;
  r.suspend_ns = r.longest_suspend_ns = kMillisecond / 100;
  r.flags = profile::kGcComplete | profile::kGcHasStats;
  r.generations = 5;
  return r;
}

std::vector<std::string> Rules(const std::vector<GcRecord>& records, const GcFacts& facts = {}) {
  const profile::GcRecords gcs(records.begin(), records.end());
  const GcFigureList figures = FiguresOf(gcs);
  const GcStats stats = StatsOf(gcs, figures.flows(), 0, 100'000 * kMillisecond);
  std::vector<std::string> out;
  for (const GcAdvice& a : AdviceFor(gcs, figures, stats, facts)) {
    EXPECT_FALSE(a.evidence.empty() || a.advice.empty() || a.setting.empty()) << a.rule;
    out.emplace_back(a.rule);
  }
  return out;
}
using Names = std::vector<std::string>;

TEST(GcAdvice, OfNothingThereIsNone) {
  EXPECT_EQ(Rules({}), Names());
  std::vector<GcRecord> young;
  for (uint32_t i = 1; i < 100; ++i) young.push_back(Gc(i, 0));
  EXPECT_EQ(Rules(young), Names());
}

TEST(GcAdvice, InducedWhenTheyCostATenthOfThePauses) {
  std::vector<GcRecord> gcs;
  for (uint32_t i = 1; i <= 20; ++i) gcs.push_back(Gc(i, 0));
  for (uint32_t i = 21; i <= 23; ++i) gcs.push_back(Gc(i, 2, 1));
  EXPECT_EQ(Rules(gcs), Names{"induced"});
  for (GcRecord& r : gcs)
    if (r.reason == 1) r.pause_ns = kMillisecond;  // 3 of 203 ms
  EXPECT_EQ(Rules(gcs), Names());
  gcs.resize(22);  // two are too few
  for (GcRecord& r : gcs) r.pause_ns = 10 * kMillisecond;
  EXPECT_EQ(Rules(gcs), Names());
}

TEST(GcAdvice, LohChurnWhenLargeObjectsDieInFullGcs) {
  std::vector<GcRecord> gcs;
  for (uint32_t i = 1; i <= 4; ++i) {
    gcs.push_back(Gc(i, 2, 4));
    gcs.back().generation_data[kGcLoh].size_before = 100 * kMiB;
    gcs.back().generation_data[kGcLoh].non_pinned_survived = 10 * kMiB;
  }
  EXPECT_EQ(Rules(gcs), Names{"loh_churn"});
  auto alive = gcs;
  for (GcRecord& r : alive) r.generation_data[kGcLoh].non_pinned_survived = 90 * kMiB;
  EXPECT_EQ(Rules(alive), Names());
  auto others = gcs;
  for (GcRecord& r : others) r.reason = 0;
  EXPECT_EQ(Rules(others), Names());
  auto touched = gcs;  // figures of GCs with lost events are no evidence
  for (GcRecord& r : touched) r.flags |= profile::kGcMaybeTouched;
  EXPECT_EQ(Rules(touched), Names());
}

TEST(GcAdvice, PinningWhenItLeavesGen0FullOfHoles) {
  std::vector<GcRecord> gcs;
  for (uint32_t i = 1; i <= 10; ++i) {
    gcs.push_back(Gc(i, static_cast<int32_t>(i % 2)));
    gcs.back().pinned_objects = 200;
    gcs.back().size_after = {20 * kMiB, kMiB, 30 * kMiB, 0, 0};
    gcs.back().generation_data[0].size_after = 20 * kMiB;
    gcs.back().generation_data[0].free_list_after = 19 * kMiB;
  }
  EXPECT_EQ(Rules(gcs), Names{"pinning"});
  auto dense = gcs;
  for (GcRecord& r : dense) r.generation_data[0].free_list_after = 5 * kMiB;
  EXPECT_EQ(Rules(dense), Names());
  auto large = gcs;  // of a large heap it is nothing
  for (GcRecord& r : large) r.size_after[2] = 900 * kMiB;
  EXPECT_EQ(Rules(large), Names());
  auto few = gcs;
  for (GcRecord& r : few) r.pinned_objects = 10;
  EXPECT_EQ(Rules(few), Names());
}

TEST(GcAdvice, FragmentationWhenItStaysAfterFullGcs) {
  std::vector<GcRecord> gcs;
  for (uint32_t i = 1; i <= 3; ++i) {
    gcs.push_back(Gc(i, 2));
    gcs.back().generation_data[2].size_after = 200 * kMiB;
    gcs.back().generation_data[2].free_list_after = 120 * kMiB;
  }
  EXPECT_EQ(Rules(gcs), Names{"fragmentation"});
  auto better = gcs;  // the last one compacted it
  better.back().generation_data[2].free_list_after = kMiB;
  EXPECT_EQ(Rules(better), Names());
  auto small = gcs;
  for (GcRecord& r : small) {
    r.generation_data[2].size_after /= 10;
    r.generation_data[2].free_list_after /= 10;
  }
  EXPECT_EQ(Rules(small), Names());
}

TEST(GcAdvice, SlowSuspensionWhenItIsAGoodPartOfThePauses) {
  std::vector<GcRecord> gcs;
  for (uint32_t i = 1; i <= 10; ++i) {
    gcs.push_back(Gc(i, 0, 0, 20));
    if (i > 6) gcs.back().suspend_ns = gcs.back().longest_suspend_ns = 18 * kMillisecond;
  }
  EXPECT_EQ(Rules(gcs), Names{"slow_suspension"});
  auto once = gcs;
  for (uint32_t i = 7; i < 10; ++i) once[i].suspend_ns = once[i].longest_suspend_ns = kMillisecond;
  EXPECT_EQ(Rules(once), Names());
}

TEST(GcAdvice, Gen1BudgetWhenMostYoungGcsMustCollectGen1) {
  std::vector<GcRecord> gcs;
  for (uint32_t i = 1; i <= 40; ++i) {
    gcs.push_back(Gc(i, i % 4 == 0 ? 0 : 1));
    GcRecord& r = gcs.back();
    r.condemn_reasons0 = r.condemn_reasons1 = 0;  // each heap tells its own
    r.heaps.emplace_back();
    r.heaps[0].condemn_reasons0 = 1 << 4;  // gen1's budget
    r.generation_data[0].size_before = 10 * kMiB;
    r.generation_data[0].non_pinned_survived = 5 * kMiB;
  }
  EXPECT_EQ(Rules(gcs), Names{"gen1_budget"});
  auto dying = gcs;  // little survives gen0: its size is right
  for (GcRecord& r : dying) r.generation_data[0].non_pinned_survived = kMiB;
  EXPECT_EQ(Rules(dying), Names());
  auto other = gcs;  // gen1 was collected for other reasons
  for (GcRecord& r : other) r.heaps[0].condemn_reasons0 = 0;
  EXPECT_EQ(Rules(other), Names());
}

TEST(GcAdvice, ServerGcInSmallContainerWhenMemoryRunsShort) {
  std::vector<GcRecord> gcs;
  for (uint32_t i = 1; i <= 5; ++i) {
    gcs.push_back(Gc(i, 0));
    gcs.back().heap_count = 8;
    gcs.back().memory_load_percent = 88;
  }
  GcFacts facts;
  facts.hard_limit_bytes = 1024 * kMiB;
  EXPECT_EQ(Rules(gcs, facts), Names{"server_gc_small"});
  EXPECT_EQ(Rules(gcs), Names());  // the memory is not known
  GcFacts large = facts;
  large.hard_limit_bytes = 64 * 1024 * kMiB;
  EXPECT_EQ(Rules(gcs, large), Names());
  auto idle = gcs;
  for (GcRecord& r : idle) r.memory_load_percent = 30;
  EXPECT_EQ(Rules(idle, facts), Names());
  auto one = gcs;
  for (GcRecord& r : one) r.heap_count = 1;
  EXPECT_EQ(Rules(one, facts), Names());
}

TEST(GcAdvice, MidLifeCrisisWhenWhatGen1PromotesDiesInGen2) {
  std::vector<GcRecord> gcs;
  for (uint32_t i = 1; i <= 40; ++i) {
    gcs.push_back(Gc(i, i % 5 == 0 ? 2 : i % 5 == 4 ? 1 : 0));
    GcRecord& r = gcs.back();
    if (r.generation == 1) r.generation_data[2].in = 30 * kMiB;
    if (r.generation == 2) {
      r.generation_data[2].size_before = 50 * kMiB;
      r.generation_data[2].non_pinned_survived = 20 * kMiB;
    }
  }
  EXPECT_EQ(Rules(gcs), Names{"mid_life_crisis"});
  auto staying = gcs;
  for (GcRecord& r : staying)
    if (r.generation == 2) r.generation_data[2].non_pinned_survived = 45 * kMiB;
  EXPECT_EQ(Rules(staying), Names());
  auto cheap = gcs;
  for (GcRecord& r : cheap)
    if (r.generation == 2) r.pause_ns = kMillisecond / 10;
  EXPECT_EQ(Rules(cheap), Names());
}

TEST(GcAdvice, StuckFinalizersWhenWhatWaitsForThemGrows) {
  std::vector<GcRecord> gcs;
  for (uint32_t i = 1; i <= 5; ++i) {
    gcs.push_back(Gc(i, 0));
    gcs.back().finalization_promoted_count = 400;
  }
  EXPECT_EQ(Rules(gcs), Names{"stuck_finalizers"});
  GcFacts facts;
  facts.finalized_ns = gcs[2].end_ns + 1;  // it went on then
  EXPECT_EQ(Rules(gcs, facts), Names());
  facts.finalized_ns = gcs[0].start_ns;  // and not since
  EXPECT_EQ(Rules(gcs, facts), Names{"stuck_finalizers"});
  auto few = gcs;
  for (GcRecord& r : few) r.finalization_promoted_count = 40;
  EXPECT_EQ(Rules(few), Names());
  gcs.resize(3);  // what the last one found may be run at once
  EXPECT_EQ(Rules(gcs), Names());
}

}  // namespace
}  // namespace clrscope::analysis
