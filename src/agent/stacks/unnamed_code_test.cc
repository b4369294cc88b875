// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/unnamed_code.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "agent/testing/fake_runtime.h"

namespace clrscope::agent {
namespace {

std::vector<UnnamedCode::Address> TakeAll(UnnamedCode& unnamed) {
  std::vector<UnnamedCode::Address> all;
  unnamed.ResolveAll([&](const UnnamedCode::Address& a) {
    EXPECT_NE(unnamed.size(), 0u) << "whoever unloads sees that it is not done";
    all.push_back(a);
  });
  EXPECT_EQ(unnamed.size(), 0u);
  return all;
}

TEST(UnnamedCode, IsLookedUpAtTheCallBeforeTheReturnAddress) {
  FakeRuntime runtime;
  runtime.AddMethod(5, 1, /*dynamic=*/true, 0x1000, 100);
  UnnamedCode unnamed;
  unnamed.Add(10, 0x1000 + 100);  // the call is the last instruction
  unnamed.Add(11, 0x1000);        // what lies before is nobody's
  unnamed.LookUp(&runtime);
  unnamed.Add(12, 0x1000 + 50);
  EXPECT_EQ(unnamed.size(), 3u);
  const std::vector<UnnamedCode::Address> all = TakeAll(unnamed);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].frame, 10u);
  EXPECT_TRUE(all[0].looked_up);
  EXPECT_EQ(all[0].function, 5u);
  EXPECT_TRUE(all[1].looked_up);
  EXPECT_EQ(all[1].function, 0u);
  EXPECT_FALSE(all[2].looked_up) << "it came later";
}

TEST(UnnamedCode, HasRoomForSome) {
  UnnamedCode unnamed;
  for (uint32_t i = 0; i < UnnamedCode::kMost; ++i) {
    EXPECT_FALSE(unnamed.full());
    unnamed.Add(10 + i, 0x1000);
  }
  EXPECT_TRUE(unnamed.full());
  EXPECT_EQ(TakeAll(unnamed).size(), UnnamedCode::kMost);
  EXPECT_FALSE(unnamed.full());
}

// One thread unloads and looks up, while the agent's adds and takes.
TEST(UnnamedCode, IsLookedUpWhileMoreIsAdded) {
  FakeRuntime runtime;
  runtime.AddMethod(5, 1, /*dynamic=*/true, 0x1000, 100);
  UnnamedCode unnamed;
  std::atomic<bool> done{false};
  std::thread unloading([&] {
    while (!done.load()) unnamed.LookUp(&runtime);
  });
  size_t added = 0, taken = 0, found = 0;
  for (uint32_t round = 0; round < 20'000 || found == 0; ++round) {
    for (uint32_t i = 0; i < 3; ++i) unnamed.Add(10 + i, 0x1010);
    added += 3;
    for (const UnnamedCode::Address& a : TakeAll(unnamed)) {
      ++taken;
      if (a.function == 5) ++found;
      ASSERT_EQ(a.looked_up, a.function == 5);
    }
  }
  done.store(true);
  unloading.join();
  EXPECT_EQ(added, taken);
  EXPECT_GT(found, 0u);
}

}  // namespace
}  // namespace clrscope::agent
