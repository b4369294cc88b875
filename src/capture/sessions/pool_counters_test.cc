// SPDX-License-Identifier: Apache-2.0
// The thread pool's counters from their events to what top shows.
#include <gtest/gtest.h>

#include "capture/testing/request_events.h"

namespace clrscope::capture {
namespace {

constexpr int64_t kPoolSecond = 1'000'000'000;

std::string PoolCounter(std::string_view name, double mean) {
  return testing::ByteWriter()
      .Z16(name)
      .Z16("")
      .F64(mean)
      .F64(0)
      .U32(1)
      .F64(mean)
      .F64(mean)
      .U32(0x3F800000)  // 1 s as a float
      .Z16("Interval=1000")
      .Z16("Mean")
      .Z16("")
      .Z16("")
      .Take();
}

TEST(PoolCounters, OnesThatSayNothingAnyMoreAreNotKnown) {
  StringPool strings;
  profile::ProcessTables tables;
  struct NoPoolSlices final : profile::SliceSink {
    void OnSlice(profile::Slice&&) override {}
  } slices;
  analysis::ProcessFold fold(&strings, &tables, 0, &slices, {});
  testing::RequestEvents events;
  events.Feed(&fold);
  EXPECT_EQ(tables.pool_threads, -1);
  fold.SetReadingPool(true);
  for (int64_t s = 1; s <= 20; ++s) {
    if (s <= 10) {
      events.Event(clr::EventTag::kEventCounter, 0, s * kPoolSecond,
                   PoolCounter("threadpool-thread-count", 12));
      events.Event(clr::EventTag::kEventCounter, 0, s * kPoolSecond,
                   PoolCounter("threadpool-queue-length", 3));
    }
    fold.Advance(s * kPoolSecond);
    EXPECT_EQ(tables.pool_threads, s <= 15 ? 12 : -1) << s;
    EXPECT_EQ(tables.pool_queue, s <= 15 ? 3 : -1) << s;
  }
}

}  // namespace
}  // namespace clrscope::capture
