// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/given_up_handles.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace clrscope::agent {
namespace {

TEST(GivenUpHandles, AreTakenInPartsAndHaveABound) {
  GivenUpHandles handles;
  size_t destroyed = 0;
  const auto count = [&](uint64_t) { ++destroyed; };
  handles.DestroySome(count);
  EXPECT_EQ(destroyed, 0u);
  handles.Push(7);
  handles.DestroySome([](uint64_t h) { EXPECT_EQ(h, 7u); });
  EXPECT_EQ(handles.waiting(), 0u);
  for (uint64_t h = 0; h < GivenUpHandles::kMost + 5; ++h) handles.Push(h);
  EXPECT_EQ(handles.waiting(), GivenUpHandles::kMost);
  handles.DestroySome(count);
  EXPECT_EQ(destroyed, GivenUpHandles::kMostAtOnce);
  while (handles.waiting() != 0) handles.DestroySome(count);
  EXPECT_EQ(destroyed, GivenUpHandles::kMost);
}

TEST(GivenUpHandles, EachIsDestroyedByOneThread) {
  constexpr uint64_t kAll = 300'000;
  GivenUpHandles handles;
  std::vector<std::atomic<int>> destroyed(kAll);
  std::atomic<uint64_t> count{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (count.load() < kAll)
        handles.DestroySome([&](uint64_t h) {
          destroyed[h].fetch_add(1);
          count.fetch_add(1);
        });
    });
  for (uint64_t h = 0; h < kAll; ++h) handles.Push(h);
  for (std::thread& thread : threads) thread.join();
  for (uint64_t h = 0; h < kAll; ++h) ASSERT_EQ(destroyed[h].load(), 1) << h;
}

}  // namespace
}  // namespace clrscope::agent
