// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/wall_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

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

TEST(WallClock, WhoHasNotRunForAWhileWasThereUntilThen) {
  WallClock c;
  EXPECT_EQ(c.Stay(5 * kWallMs), 0) << "nothing is known of it";
  c.Look(10 * kWallMs, {0, 0, 1}, true);
  EXPECT_EQ(c.Stay(90 * kWallMs), 80 * kWallMs);
  EXPECT_EQ(c.Stay(90 * kWallMs), 0);
  // It ran for 2 ms since: only what passed after that is halved.
  const WallClock::Passed p = c.Look(100 * kWallMs, {2 * kWallMs, 0, 2}, true);
  EXPECT_EQ(p.before_ns, 4 * kWallMs);
  EXPECT_EQ(p.now_ns, 4 * kWallMs);
  c.Look(110 * kWallMs, {3 * kWallMs, 0, 3}, false);
  EXPECT_EQ(c.Stay(150 * kWallMs), 0) << "it was not blocked";
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

TEST(WallClock, WhoWaitsForACpuWasBlockedUntilThen) {
  WallClock c;
  c.Look(0, {0, 0, 1}, true);
  // It woke after 2 ms, and nothing says so while it waits for a CPU.
  WallClock::Passed p = c.Look(10 * kWallMs, {0, 0, 1}, true);
  EXPECT_EQ(p.before_ns, 10 * kWallMs);
  // It was put on one at 15 ms, and runs.
  p = c.Look(20 * kWallMs, {5 * kWallMs, 13 * kWallMs, 2}, false);
  EXPECT_EQ(p.ready_ns, 13 * kWallMs);
  EXPECT_EQ(p.before_ns, -8 * kWallMs);
  EXPECT_EQ(p.now_ns + p.unseen_ns, 0);
}

TEST(WallClock, WhoIsPreemptedForLongIsNotBlocked) {
  WallClock c;
  c.Look(0, {0, 0, 1}, false);
  // Another has its CPU, and nothing says so.
  for (int look = 1; look <= 5; ++look) {
    const WallClock::Passed p = c.Look(look * 10 * kWallMs, {0, 0, 1}, false);
    EXPECT_EQ(p.ready_ns + p.before_ns + p.now_ns + p.unseen_ns, 0);
  }
  // It has been put on one at 57 ms, and runs.
  WallClock::Passed p = c.Look(60 * kWallMs, {3 * kWallMs, 57 * kWallMs, 2}, false);
  EXPECT_EQ(p.ready_ns, 57 * kWallMs);
  EXPECT_EQ(p.before_ns + p.now_ns + p.unseen_ns, 0);
  // It ran for 2 ms more and is blocked: nothing is owed.
  p = c.Look(70 * kWallMs, {5 * kWallMs, 57 * kWallMs, 2}, true);
  EXPECT_EQ(p.now_ns, 8 * kWallMs);
}

// A thread that runs by turns with others and is then blocked, 200 times; looks at random times,
// and a system that tells what runs at its ticks of 4 ms.
TEST(WallClock, SumsAreTheThreadsOwnWhereOthersHaveTheCpu) {
  enum class Doing { kRunning, kReady, kBlocked };
  struct Stretch {
    Doing doing;
    int64_t begin_ns, ns;
    ScheduleTimes then;
  };
  std::mt19937_64 random(7);
  const auto between = [&random](double low_ms, double high_ms) {
    return static_cast<int64_t>(std::uniform_real_distribution<double>(low_ms, high_ms)(random) *
                                kWallMs);
  };
  std::vector<Stretch> stretches;
  ScheduleTimes told;
  int64_t end_ns = 0, blocked_ns = 0;
  const auto add = [&](Doing doing, int64_t ns) {
    told.turns += doing == Doing::kRunning ? 1 : 0;
    stretches.push_back({doing, end_ns, ns, told});
    end_ns += ns;
    if (doing == Doing::kRunning) told.ran_ns += ns;
    if (doing == Doing::kReady) told.ready_ns += ns;
    if (doing == Doing::kBlocked) blocked_ns += ns;
  };
  for (int i = 0; i < 200; ++i) {
    for (const int64_t until = end_ns + between(20, 40); end_ns < until;) {
      add(Doing::kRunning, between(1, 4));
      add(Doing::kReady, between(0, 8));
    }
    add(Doing::kRunning, between(0.5, 1));
    add(Doing::kBlocked, between(80, 140));
    add(Doing::kReady, between(0, 12));
  }
  WallClock c;
  int64_t blocked = 0, ready = 0;
  auto at = stretches.begin();
  for (int64_t now = 0; now < end_ns; now += between(5, 15)) {
    while (at->begin_ns + at->ns <= now) ++at;
    ScheduleTimes times = at->then;
    constexpr int64_t kTickNs = 4 * kWallMs;
    if (at->doing == Doing::kRunning)
      times.ran_ns += std::max<int64_t>(0, now / kTickNs * kTickNs - at->begin_ns);
    const bool is_blocked = at->doing == Doing::kBlocked || c.Same(times);
    const WallClock::Passed p = c.Look(now, times, is_blocked);
    blocked += p.before_ns + p.now_ns + p.unseen_ns;
    ready += p.ready_ns;
  }
  EXPECT_NEAR(static_cast<double>(blocked), static_cast<double>(blocked_ns), 20 * kWallMs);
  EXPECT_NEAR(static_cast<double>(ready), static_cast<double>(told.ready_ns), 20 * kWallMs);
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
