// SPDX-License-Identifier: Apache-2.0
// The rule by which the simulator makes AllocationTick, and sequences of real programs as files.
#include "profile/testing/tick_rule.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "profile/testing/sequence.h"

namespace clrscope::profile::testing {
namespace {

constexpr uint64_t kBudget = uint64_t{1} << 40;

SimObject Object(uint32_t size, uint16_t thread = 0, HeapKind kind = HeapKind::kSoh) {
  SimObject o;
  o.size = size;
  o.thread = thread;
  o.kind = kind;
  return o;
}

// Bytes that ticks tell while `n` objects of each of `threads` threads are allocated in turn.
double Told(uint32_t size, uint16_t threads, int n, uint64_t budget = kBudget) {
  std::mt19937_64 random(1);
  TickRule rule(threads, budget, random);
  double told = 0;
  for (int i = 0; i < n; ++i)
    for (uint16_t t = 0; t < threads; ++t)
      told += static_cast<double>(rule.Allocate(Object(size, t)));
  return told;
}

TEST(TickRule, OneThreadLosesNothing) {
  // 6,000 bytes do not divide a grant, but the next one lies behind the last.
  EXPECT_NEAR(Told(6'000, 1, 10'000), 6e7, 2.0 * kTickStride);
}

TEST(TickRule, ThreadsThatTakeTurnsLoseTheRestOfEachGrant) {
  // Of each 8,200 bytes only one object of 6,000 is used.
  EXPECT_NEAR(Told(6'000, 2, 10'000), 2 * 10'000 * 8'200.0, 2.0 * kTickStride);
}

TEST(TickRule, ACollectionTakesTheRestAway) {
  EXPECT_GT(Told(6'000, 1, 10'000, 50'000), 6e7 + 500 * 2'000.0);
}

TEST(TickRule, NamesTheObjectThatPassesTheStride) {
  std::mt19937_64 random(1);
  TickRule rule(1, kBudget, random);
  const auto until_next = [&](uint32_t size) {
    uint64_t bytes = 0, told = 0;
    while (told == 0) {
      told = rule.Allocate(Object(size, 0, HeapKind::kLoh));
      bytes += size;
    }
    return std::pair(bytes, told);
  };
  until_next(90'000);  // how full the stride was is not known
  EXPECT_EQ(until_next(90'000), std::pair(uint64_t{180'000}, uint64_t{180'000}));
  EXPECT_EQ(until_next(200'000), std::pair(uint64_t{200'000}, uint64_t{200'000}));
}

TEST(TickRule, HeapsHaveStridesOfTheirOwn) {
  std::mt19937_64 random(1);
  TickRule rule(1, kBudget, random);
  while (rule.Allocate(Object(90'000, 0, HeapKind::kLoh)) == 0) {
  }
  EXPECT_EQ(rule.Allocate(Object(90'000, 0, HeapKind::kLoh)), 0u);
  while (rule.Allocate(Object(40'000, 0, HeapKind::kPoh)) == 0) {
  }
  EXPECT_EQ(rule.Allocate(Object(90'000, 0, HeapKind::kLoh)), 180'000u);
}

TEST(Sequence, ComesBackAsItWasWritten) {
  const std::string path = ::testing::TempDir() + "/sequence";
  Sequence s;
  for (uint32_t i = 0; i < 1'000; ++i) {
    s.objects.push_back(Object(24 + 8 * i, static_cast<uint16_t>(i % 7)));
    s.objects.back().site = i * 3;
    s.objects.back().death = i + 5;
  }
  s.ticks.push_back({17, 0, 160, 106'600});
  ASSERT_TRUE(WriteSequence(path, s));
  Sequence back;
  ASSERT_TRUE(ReadSequence(path, &back));
  ASSERT_EQ(back.objects.size(), s.objects.size());
  for (size_t i = 0; i < s.objects.size(); ++i) {
    EXPECT_EQ(back.objects[i].size, s.objects[i].size);
    EXPECT_EQ(back.objects[i].thread, s.objects[i].thread);
    EXPECT_EQ(back.objects[i].site, s.objects[i].site);
    EXPECT_EQ(back.objects[i].death, s.objects[i].death);
  }
  ASSERT_EQ(back.ticks.size(), 1u);
  EXPECT_EQ(back.ticks[0].object, 17u);
  EXPECT_EQ(back.ticks[0].amount, 106'600u);
  std::remove(path.c_str());
  EXPECT_FALSE(ReadSequence(path, &back));
}

}  // namespace
}  // namespace clrscope::profile::testing
