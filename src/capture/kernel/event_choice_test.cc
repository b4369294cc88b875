// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/event_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace clrscope::capture {
namespace {

// Samples of a thread that runs on one CPU for so many periods: each of its events fires once a
// period, at a time of its own. How many count.
size_t CountOf(EventChoice& choice, pid_t tid, size_t cpu, const std::vector<uint64_t>& ids,
               double periods, std::minstd_rand& random) {
  std::uniform_real_distribution<double> unit;
  std::vector<std::pair<double, uint64_t>> fires;
  for (const uint64_t id : ids)
    for (double at = unit(random); at < periods; at += 1) fires.emplace_back(at, id);
  std::sort(fires.begin(), fires.end());
  size_t count = 0;
  for (const auto& [at, id] : fires)
    if (choice.Counts(tid, cpu, id)) ++count;
  return count;
}

TEST(EventChoice, AThreadWithOneEventOfEachCpuCounts) {
  EventChoice choice;
  std::minstd_rand random(1);
  EXPECT_EQ(CountOf(choice, 7, 0, {1}, 100, random), 100u);
  EXPECT_EQ(CountOf(choice, 7, 1, {2}, 100, random), 100u);
  EXPECT_EQ(CountOf(choice, 8, 1, {2}, 100, random), 100u);
}

// Thread 8 inherited 1 and 2 and was opened as 11 and 12 then; 9 was made by it.
TEST(EventChoice, WhatIsInheritedBesideItsOwnCountsOnce) {
  EventChoice choice;
  std::minstd_rand random(1);
  for (const pid_t tid : {8, 9, 10})
    for (const size_t cpu : {0u, 1u})
      EXPECT_NEAR(static_cast<double>(CountOf(choice, tid, cpu, {cpu + 1, cpu + 11}, 100, random)),
                  100, 1);
}

TEST(EventChoice, WhatInheritedNothingCountsByItsOwn) {
  EventChoice choice;
  std::minstd_rand random(1);
  // On the second CPU nothing was inherited.
  for (const pid_t tid : {8, 9}) {
    EXPECT_NEAR(static_cast<double>(CountOf(choice, tid, 0, {1, 11}, 100, random)), 100, 1);
    EXPECT_EQ(CountOf(choice, tid, 1, {12}, 100, random), 100u);
  }
}

TEST(EventChoice, EachThatWasOpenedLateAddsOne) {
  EventChoice choice;
  std::minstd_rand random(1);
  EXPECT_NEAR(static_cast<double>(CountOf(choice, 8, 0, {1, 11}, 50, random)), 50, 1);
  EXPECT_NEAR(static_cast<double>(CountOf(choice, 9, 0, {1, 11, 21}, 50, random)), 50, 1);
  EXPECT_EQ(CountOf(choice, 10, 0, {1, 11, 21}, 50, random), 50u);
}

// Threads that run for half a period: which one fires first must not decide.
TEST(EventChoice, ShortThreadsAreNotCountedTooOften) {
  EventChoice choice;
  std::minstd_rand random(1);
  (void)CountOf(choice, 8, 0, {1, 11}, 10, random);
  size_t count = 0;
  for (pid_t tid = 100; tid < 10'100; ++tid) {
    count += CountOf(choice, tid, 0, {1, 11}, 0.5, random);
    choice.OnThreadEnd(tid);
  }
  EXPECT_NEAR(static_cast<double>(count), 5'000, 250);  // five times its standard deviation
}

TEST(EventChoice, AnotherThreadOfTheSameIdHasEventsOfItsOwn) {
  EventChoice choice;
  std::minstd_rand random(1);
  EXPECT_EQ(CountOf(choice, 8, 0, {11}, 10, random), 10u);
  choice.OnThreadEnd(8);
  EXPECT_EQ(CountOf(choice, 8, 0, {1}, 10, random), 10u);
  EXPECT_EQ(CountOf(choice, 9, 0, {11}, 10, random), 10u) << "no thread has both";
}

}  // namespace
}  // namespace clrscope::capture
