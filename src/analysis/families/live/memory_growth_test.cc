// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/live/memory_growth.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace clrscope::analysis {
namespace {

constexpr int64_t kMemoryMiB = 1 << 20;

profile::GcRecord Gc(int64_t second, int64_t before, int64_t after, int64_t free = 0) {
  profile::GcRecord gc;
  gc.start_ns = second * kSecond;
  gc.end_ns = gc.start_ns + kSecond / 10;
  gc.committed_before = {before, 0, 0, 0, 0};
  gc.committed_after = {after - free, 0, free, 0, 0};
  gc.size_after = {0, 0, after - free, 0, 0};
  return gc;
}

// A minute in which it grows from `from` to `to`.
profile::Profile Program(int64_t from, int64_t to) {
  profile::Profile p;
  profile::Process& process = p.processes.emplace_back();
  process.Record(profile::Measure::kAllocations);
  for (int64_t second = 0; second <= 60; ++second) {
    profile::MemoryReading r;
    r.at_ns = second * kSecond;
    r.rss_bytes = r.private_bytes = from + (to - from) * second / 60;
    r.file_bytes = r.shared_bytes = r.swap_bytes = 0;
    r.threads = 10;
    process.memory.push_back(r);
  }
  return p;
}

void Allocate(profile::Profile& p, int64_t second, int64_t bytes) {
  profile::TimeRow row;
  row.start_ns = second * kSecond;
  row.end_ns = row.start_ns + kSecond;
  row.value.samples = 1;
  row.value.biased = true;
  row.value.amount = static_cast<double>(bytes);
  p.figures.front().times.push_back(row);
}

MemoryGrowth Whole(const profile::Profile& p) { return *MemoryGrowthOf(p, 0, 0, 60 * kSecond); }

TEST(MemoryGrowth, OutsideOfTheHeapIsWhatTheCollectionsCannotExplain) {
  profile::Profile p = Program(100 * kMemoryMiB, 224 * kMemoryMiB);
  p.gcs = {Gc(5, 10 * kMemoryMiB, 10 * kMemoryMiB),
           Gc(58, 10 * kMemoryMiB, 10 * kMemoryMiB + kMemoryMiB / 2)};
  const MemoryGrowth m = Whole(p);
  EXPECT_EQ(m.grown(), 124 * kMemoryMiB);
  EXPECT_EQ(m.gc_from.at_ns, 5 * kSecond);  // what the first one found
  EXPECT_EQ(m.gc_to.committed_bytes, 10 * kMemoryMiB + kMemoryMiB / 2);
  EXPECT_LT(*m.gc_at_most, 2 * kMemoryMiB);
  EXPECT_TRUE(m.mostly_outside());
  EXPECT_FALSE(m.mostly_free());
}

TEST(MemoryGrowth, WhatTheHeapTookIsNotOutside) {
  profile::Profile p = Program(100 * kMemoryMiB, 224 * kMemoryMiB);
  p.gcs = {Gc(5, 10 * kMemoryMiB, 10 * kMemoryMiB), Gc(58, 100 * kMemoryMiB, 120 * kMemoryMiB)};
  EXPECT_GE(*Whole(p).gc_at_most, 110 * kMemoryMiB);
  EXPECT_FALSE(Whole(p).mostly_outside());
}

TEST(MemoryGrowth, WhatWasAllocatedSinceTheLastCollectionMayBeTheHeaps) {
  profile::Profile p = Program(100 * kMemoryMiB, 224 * kMemoryMiB);
  p.gcs = {Gc(5, 10 * kMemoryMiB, 10 * kMemoryMiB)};
  Allocate(p, 3, 500 * kMemoryMiB);  // before it
  EXPECT_TRUE(MemoryGrowthOf(p, 0, 10 * kSecond, 60 * kSecond)->mostly_outside());
  Allocate(p, 40, 100 * kMemoryMiB);
  const auto m = MemoryGrowthOf(p, 0, 10 * kSecond, 60 * kSecond);
  EXPECT_GE(*m->gc_at_most, 100 * kMemoryMiB);
  EXPECT_FALSE(m->mostly_outside());
  // Free regions take it in, but may have been given back before.
  p.gcs = {Gc(5, 100 * kMemoryMiB, 100 * kMemoryMiB, 90 * kMemoryMiB)};
  EXPECT_NEAR(static_cast<double>(*MemoryGrowthOf(p, 0, 10 * kSecond, 60 * kSecond)->gc_at_most),
              100 * kMemoryMiB, kMemoryMiB);
}

TEST(MemoryGrowth, WithoutACollectionItIsAtMostWhatWasAllocated) {
  profile::Profile p = Program(100 * kMemoryMiB, 224 * kMemoryMiB);
  const MemoryGrowth none = Whole(p);
  EXPECT_FALSE(none.gc_to.known());
  EXPECT_GT(*none.gc_at_most, 0);  // no sample is not nothing
  EXPECT_TRUE(none.mostly_outside());
  Allocate(p, 40, 100 * kMemoryMiB);
  EXPECT_FALSE(Whole(p).mostly_outside());
}

TEST(MemoryGrowth, NothingIsSaidWhereAllocationsAreNotKnown) {
  profile::Profile p = Program(100 * kMemoryMiB, 224 * kMemoryMiB);
  p.gcs = {Gc(5, 10 * kMemoryMiB, 10 * kMemoryMiB), Gc(58, 10 * kMemoryMiB, 10 * kMemoryMiB)};
  p.processes[0].dropped = true;
  EXPECT_FALSE(Whole(p).gc_at_most);
  EXPECT_FALSE(Whole(p).mostly_outside());
  p.processes[0].dropped = false;
  p.processes[0].measures = 0;
  EXPECT_FALSE(Whole(p).gc_at_most);
}

TEST(MemoryGrowth, SwapCountsAndNoiseDoesNot) {
  profile::Profile p = Program(100 * kMemoryMiB, 100 * kMemoryMiB);
  p.processes[0].memory.back().swap_bytes = 50 * kMemoryMiB;
  EXPECT_EQ(Whole(p).grown(), 50 * kMemoryMiB);
  EXPECT_TRUE(Whole(p).mostly_outside());
  p = Program(100 * kMemoryMiB, 102 * kMemoryMiB);  // 64 pages of each of ten threads are 2.5 MiB
  EXPECT_FALSE(Whole(p).mostly_outside());
  p = Program(100 * kMemoryMiB, 50 * kMemoryMiB);
  EXPECT_EQ(Whole(p).grown(), -50 * kMemoryMiB);
  EXPECT_FALSE(Whole(p).mostly_outside());
}

TEST(MemoryGrowth, AHeapThatGrowsWithoutWhatLivesInIt) {
  profile::Profile p = Program(100 * kMemoryMiB, 224 * kMemoryMiB);
  p.gcs = {Gc(5, 10 * kMemoryMiB, 10 * kMemoryMiB), Gc(58, 100 * kMemoryMiB, 120 * kMemoryMiB)};
  MemoryGrowth m = Whole(p);
  EXPECT_FALSE(m.mostly_free());  // nobody followed what lives
  m.live_bytes = 2 * kMemoryMiB;
  EXPECT_TRUE(m.mostly_free());
  m.live_bytes = 100 * kMemoryMiB;
  EXPECT_FALSE(m.mostly_free());
}

TEST(MemoryGrowth, LargeObjectsMayBecomeResidentAfterTheyWereCommitted) {
  profile::Profile p = Program(300 * kMemoryMiB, 540 * kMemoryMiB);
  p.gcs = {Gc(5, 1100 * kMemoryMiB, 1100 * kMemoryMiB),
           Gc(58, 1100 * kMemoryMiB, 1100 * kMemoryMiB)};
  EXPECT_TRUE(Whole(p).mostly_outside());
  profile::GcRecord first = Gc(5, 1100 * kMemoryMiB, 1100 * kMemoryMiB);
  first.size_after = {0, 0, 100 * kMemoryMiB, 1000 * kMemoryMiB,
                      0};  // a list that is filled bit by bit
  p.gcs = {first, Gc(58, 1100 * kMemoryMiB, 1100 * kMemoryMiB)};
  EXPECT_FALSE(Whole(p).mostly_outside());
  first.size_after = profile::kGcBytesUnknown;
  p.gcs = {first, Gc(58, 1100 * kMemoryMiB, 1100 * kMemoryMiB)};
  EXPECT_FALSE(Whole(p).gc_at_most);
}

TEST(MemoryGrowth, WhatShrinksOrGrewBeforeTheWindowIsNoGrowthOfTheHeap) {
  profile::Profile p = Program(150 * kMemoryMiB, 100 * kMemoryMiB);
  p.gcs = {Gc(5, 10 * kMemoryMiB, 10 * kMemoryMiB), Gc(58, 13 * kMemoryMiB, 13 * kMemoryMiB)};
  MemoryGrowth m = Whole(p);
  m.live_bytes = 0;
  EXPECT_FALSE(m.mostly_free());
  p = Program(300 * kMemoryMiB, 360 * kMemoryMiB);
  p.gcs = {Gc(1, 10 * kMemoryMiB, 10 * kMemoryMiB), Gc(58, 210 * kMemoryMiB, 210 * kMemoryMiB)};
  m = *MemoryGrowthOf(p, 0, 30 * kSecond, 60 * kSecond);
  m.live_bytes = 0;
  EXPECT_FALSE(m.mostly_free());
}

TEST(MemoryGrowth, BetweenWindowsOfTimeAnythingMayHaveBeenAllocated) {
  profile::Profile p = Program(100 * kMemoryMiB, 224 * kMemoryMiB);
  p.gcs = {Gc(5, 10 * kMemoryMiB, 10 * kMemoryMiB), Gc(58, 10 * kMemoryMiB, 10 * kMemoryMiB)};
  Allocate(p, 59, kMemoryMiB);
  EXPECT_TRUE(Whole(p).mostly_outside());
  p.figures.front().times.back().value.windows.Make();
  EXPECT_FALSE(Whole(p).gc_at_most);
}

TEST(MemoryGrowth, LittleOfALargeProcessIsNotWorthASentence) {
  profile::Profile p = Program(2000 * kMemoryMiB, 2020 * kMemoryMiB);
  p.gcs = {Gc(5, 10 * kMemoryMiB, 10 * kMemoryMiB), Gc(58, 10 * kMemoryMiB, 10 * kMemoryMiB)};
  EXPECT_FALSE(Whole(p).mostly_outside());
}

TEST(MemoryGrowth, OneReadingIsNoGrowth) {
  profile::Profile p = Program(100 * kMemoryMiB, 224 * kMemoryMiB);
  EXPECT_FALSE(MemoryGrowthOf(p, 0, 7 * kSecond, 7 * kSecond + 1));
  EXPECT_FALSE(MemoryGrowthOf(p, 0, 70 * kSecond, 80 * kSecond));
  p.processes[0].memory.clear();  // a capture of an earlier build
  EXPECT_FALSE(MemoryGrowthOf(p, 0, 0, 60 * kSecond));
  // It died: the last reading counts.
  p = Program(100 * kMemoryMiB, 160 * kMemoryMiB);
  EXPECT_EQ(MemoryGrowthOf(p, 0, 30 * kSecond, 90 * kSecond)->to.at_ns, 60 * kSecond);
}

}  // namespace
}  // namespace clrscope::analysis
