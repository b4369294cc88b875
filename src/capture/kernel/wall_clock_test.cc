// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/wall_clock.h"

#include <gtest/gtest.h>

namespace clrscope::capture {
namespace {

constexpr int64_t kWallMs = 1'000'000;

TEST(WallClock, WhoIsNotPutOnACpuStaysWhereItIs) {
  WallClock c;
  c.Look(0, {5 * kWallMs, 0, 7}, true);
  EXPECT_TRUE(c.Same({5 * kWallMs, 0, 7}));
  EXPECT_FALSE(c.Same({5 * kWallMs, 0, 8}));
  EXPECT_EQ(c.Look(10 * kWallMs, {5 * kWallMs, 0, 7}, true).before_ns, 10 * kWallMs);
}

TEST(WallClock, WhatWasNotRunAndNotReadyWasBlocked) {
  WallClock c;
  c.Look(0, {0, 0, 1}, true);
  // It woke, was ready for 1 ms, ran for 3 ms, and runs.
  WallClock::Passed p = c.Look(10 * kWallMs, {3 * kWallMs, kWallMs, 2}, false);
  EXPECT_EQ(p.before_ns, 6 * kWallMs);
  EXPECT_EQ(p.ready_ns, kWallMs);
  EXPECT_EQ(p.now_ns + p.unseen_ns, 0);
  // It ran for 4 ms and is blocked.
  p = c.Look(20 * kWallMs, {7 * kWallMs, kWallMs, 2}, true);
  EXPECT_EQ(p.now_ns, 6 * kWallMs);
  EXPECT_EQ(p.before_ns, 0);
  // It ran, and is blocked again: half of the rest is that of each place.
  p = c.Look(30 * kWallMs, {9 * kWallMs, kWallMs, 3}, true);
  EXPECT_EQ(p.before_ns, 4 * kWallMs);
  EXPECT_EQ(p.now_ns, 4 * kWallMs);
}

TEST(WallClock, WhatIsToldLateIsTakenBack) {
  WallClock c;
  c.Look(0, {0, 0, 1}, false);
  // It runs all along; the system tells it at its ticks of 4 ms.
  WallClock::Passed p = c.Look(10 * kWallMs, {8 * kWallMs, 0, 1}, false);
  EXPECT_EQ(p.before_ns + p.now_ns + p.unseen_ns, 0);
  // 2 ms of the 12 told now were of the time before.
  p = c.Look(20 * kWallMs, {20 * kWallMs, 0, 1}, true);
  EXPECT_EQ(p.now_ns, 0);
  // And nothing is owed any more.
  p = c.Look(30 * kWallMs, {20 * kWallMs, 0, 1}, true);
  EXPECT_EQ(p.before_ns, 10 * kWallMs);
}

TEST(WallClock, WaitsThatNoLookSawAreTold) {
  WallClock c;
  c.Look(0, {0, 0, 1}, false);
  EXPECT_EQ(c.Look(10 * kWallMs, {2 * kWallMs, 0, 9}, false).unseen_ns, 8 * kWallMs);
}

TEST(WallClock, FromItsBeginOn) {
  WallClock c;
  c.Begin(5 * kWallMs, {});
  const WallClock::Passed p = c.Look(30 * kWallMs, {kWallMs, 0, 1}, true);
  EXPECT_EQ(p.now_ns, 24 * kWallMs);
}

}  // namespace
}  // namespace clrscope::capture
