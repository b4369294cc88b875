// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/live/memory_growth.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace clrscope::analysis {
namespace {

constexpr int64_t kMiB = 1 << 20;

profile::GcRecord Gc(int64_t second, int64_t before, int64_t after, int64_t free = 0) {
  profile::GcRecord gc;
  gc.start_ns = second * kSecond;
  gc.end_ns = gc.start_ns + kSecond / 10;
  gc.committed_before = {before, 0, 0, 0, 0};
  gc.committed_after = {after - free, 0, free, 0, 0};
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
  profile::Profile p = Program(100 * kMiB, 224 * kMiB);
  p.gcs = {Gc(5, 10 * kMiB, 10 * kMiB), Gc(58, 10 * kMiB, 10 * kMiB + kMiB / 2)};
  const MemoryGrowth m = Whole(p);
  EXPECT_EQ(m.grown(), 124 * kMiB);
  EXPECT_EQ(m.gc_from.at_ns, 5 * kSecond);  // what the first one found
  EXPECT_EQ(m.gc_to.committed_bytes, 10 * kMiB + kMiB / 2);
  EXPECT_LT(*m.gc_at_most, 2 * kMiB);
  EXPECT_TRUE(m.mostly_outside());
  EXPECT_FALSE(m.mostly_free());
}

TEST(MemoryGrowth, WhatTheHeapTookIsNotOutside) {
  profile::Profile p = Program(100 * kMiB, 224 * kMiB);
  p.gcs = {Gc(5, 10 * kMiB, 10 * kMiB), Gc(58, 100 * kMiB, 120 * kMiB)};
  EXPECT_GE(*Whole(p).gc_at_most, 110 * kMiB);
  EXPECT_FALSE(Whole(p).mostly_outside());
}

TEST(MemoryGrowth, WhatWasAllocatedSinceTheLastCollectionMayBeTheHeaps) {
  profile::Profile p = Program(100 * kMiB, 224 * kMiB);
  p.gcs = {Gc(5, 10 * kMiB, 10 * kMiB)};
  Allocate(p, 3, 500 * kMiB);  // before it
  EXPECT_TRUE(MemoryGrowthOf(p, 0, 10 * kSecond, 60 * kSecond)->mostly_outside());
  Allocate(p, 40, 100 * kMiB);
  const auto m = MemoryGrowthOf(p, 0, 10 * kSecond, 60 * kSecond);
  EXPECT_GE(*m->gc_at_most, 100 * kMiB);
  EXPECT_FALSE(m->mostly_outside());
  // Free regions take it in, but may have been given back before.
  p.gcs = {Gc(5, 100 * kMiB, 100 * kMiB, 90 * kMiB)};
  EXPECT_NEAR(static_cast<double>(*MemoryGrowthOf(p, 0, 10 * kSecond, 60 * kSecond)->gc_at_most),
              100 * kMiB, kMiB);
}

TEST(MemoryGrowth, WithoutACollectionItIsAtMostWhatWasAllocated) {
  profile::Profile p = Program(100 * kMiB, 224 * kMiB);
  const MemoryGrowth none = Whole(p);
  EXPECT_FALSE(none.gc_to.known());
  EXPECT_GT(*none.gc_at_most, 0);  // no sample is not nothing
  EXPECT_TRUE(none.mostly_outside());
  Allocate(p, 40, 100 * kMiB);
  EXPECT_FALSE(Whole(p).mostly_outside());
}

TEST(MemoryGrowth, NothingIsSaidWhereAllocationsAreNotKnown) {
  profile::Profile p = Program(100 * kMiB, 224 * kMiB);
  p.gcs = {Gc(5, 10 * kMiB, 10 * kMiB), Gc(58, 10 * kMiB, 10 * kMiB)};
  p.processes[0].dropped = true;
  EXPECT_FALSE(Whole(p).gc_at_most);
  EXPECT_FALSE(Whole(p).mostly_outside());
  p.processes[0].dropped = false;
  p.processes[0].measures = 0;
  EXPECT_FALSE(Whole(p).gc_at_most);
}

TEST(MemoryGrowth, SwapCountsAndNoiseDoesNot) {
  profile::Profile p = Program(100 * kMiB, 100 * kMiB);
  p.processes[0].memory.back().swap_bytes = 50 * kMiB;
  EXPECT_EQ(Whole(p).grown(), 50 * kMiB);
  EXPECT_TRUE(Whole(p).mostly_outside());
  p = Program(100 * kMiB, 102 * kMiB);  // 64 pages of each of ten threads are 2.5 MiB
  EXPECT_FALSE(Whole(p).mostly_outside());
  p = Program(100 * kMiB, 50 * kMiB);
  EXPECT_EQ(Whole(p).grown(), -50 * kMiB);
  EXPECT_FALSE(Whole(p).mostly_outside());
}

TEST(MemoryGrowth, AHeapThatGrowsWithoutWhatLivesInIt) {
  profile::Profile p = Program(100 * kMiB, 224 * kMiB);
  p.gcs = {Gc(5, 10 * kMiB, 10 * kMiB), Gc(58, 100 * kMiB, 120 * kMiB)};
  MemoryGrowth m = Whole(p);
  EXPECT_FALSE(m.mostly_free());  // nobody followed what lives
  m.live_bytes = 2 * kMiB;
  EXPECT_TRUE(m.mostly_free());
  m.live_bytes = 100 * kMiB;
  EXPECT_FALSE(m.mostly_free());
}

TEST(MemoryGrowth, OneReadingIsNoGrowth) {
  profile::Profile p = Program(100 * kMiB, 224 * kMiB);
  EXPECT_FALSE(MemoryGrowthOf(p, 0, 7 * kSecond, 7 * kSecond + 1));
  EXPECT_FALSE(MemoryGrowthOf(p, 0, 70 * kSecond, 80 * kSecond));
  p.processes[0].memory.clear();  // a capture of an earlier build
  EXPECT_FALSE(MemoryGrowthOf(p, 0, 0, 60 * kSecond));
  // It died: the last reading counts.
  p = Program(100 * kMiB, 160 * kMiB);
  EXPECT_EQ(MemoryGrowthOf(p, 0, 30 * kSecond, 90 * kSecond)->to.at_ns, 60 * kSecond);
}

}  // namespace
}  // namespace clrscope::analysis
