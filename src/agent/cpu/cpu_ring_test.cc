// SPDX-License-Identifier: Apache-2.0
#include "agent/cpu/cpu_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace clrscope::agent {
namespace {

TEST(CpuRing, KeepsTheOrderAndWrapsAround) {
  CpuRing ring(4);
  ASSERT_TRUE(ring.ok());
  for (uint64_t i = 0; i < 50; ++i) {
    CpuCell* cell = ring.Claim();
    ASSERT_NE(cell, nullptr);
    EXPECT_EQ(ring.Front(), nullptr);  // not filled yet
    cell->ip = i;
    CpuRing::Commit(cell);
    ASSERT_NE(ring.Front(), nullptr);
    EXPECT_EQ(ring.Front()->ip, i);
    ring.Drop();
  }
  EXPECT_EQ(ring.lost(), 0u);
}

TEST(CpuRing, CountsWhatFindsItFull) {
  CpuRing ring(4);
  for (int i = 0; i < 4; ++i) CpuRing::Commit(ring.Claim());
  EXPECT_EQ(ring.Claim(), nullptr);
  EXPECT_EQ(ring.Claim(), nullptr);
  EXPECT_EQ(ring.lost(), 2u);
  ring.Drop();
  EXPECT_NE(ring.Claim(), nullptr);
}

TEST(CpuRing, WaitsForTheOldestOnly) {
  CpuRing ring(4);
  CpuCell *first = ring.Claim(), *second = ring.Claim();
  CpuRing::Commit(second);
  EXPECT_EQ(ring.Front(), nullptr);
  CpuRing::Commit(first);
  EXPECT_EQ(ring.Front(), first);
  ring.Drop();
  EXPECT_EQ(ring.Front(), second);
  ring.Drop();
  ring.ReleasePages();
  EXPECT_EQ(ring.Front(), nullptr);
  EXPECT_EQ(ring.waiting(), 0u);
}

TEST(CpuRing, LosesNothingUncounted) {
  constexpr uint64_t kEach = 20'000;
  constexpr uint32_t kThreads = 4;
  CpuRing ring(64);
  std::atomic<uint32_t> running{kThreads};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kEach; ++i) {
        CpuCell* cell = ring.Claim();
        if (cell == nullptr) continue;
        cell->thread = t;
        cell->ip = i;
        cell->sp = ~i;
        CpuRing::Commit(cell);
      }
      running.fetch_sub(1);
    });
  uint64_t taken = 0;
  int64_t last[kThreads] = {-1, -1, -1, -1};
  for (bool over = false; !over;) {
    over = running.load() == 0;
    for (; const CpuCell* cell = ring.Front(); ring.Drop()) {
      ASSERT_EQ(cell->sp, ~cell->ip);
      ASSERT_LT(cell->thread, kThreads);
      ASSERT_GT(static_cast<int64_t>(cell->ip), last[cell->thread]);
      last[cell->thread] = static_cast<int64_t>(cell->ip);
      ++taken;
    }
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(taken + ring.lost(), kEach * kThreads);
}

}  // namespace
}  // namespace clrscope::agent
