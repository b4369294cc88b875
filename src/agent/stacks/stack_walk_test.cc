// SPDX-License-Identifier: Apache-2.0
// Walks over a made-up stack, whose frames are two words each.
#include "agent/stacks/stack_walk.h"

#include <gtest/gtest.h>

#include <vector>

namespace clrscope::agent {
namespace {

constexpr uintptr_t kFirstMethod = 0x10000, kSecondMethod = 0x20000, kThrower = 0x30000,
                    kNative = 0x40000;

class StackWalk : public ::testing::Test {
 protected:
  void Know(uintptr_t ip, bool managed, uintptr_t function) {
    const CodeTable::Slot* slot = code.FindOrAdd(ip);
    unwind::FrameRule rule;
    rule.state = unwind::RuleState::kKnown;
    rule.managed = managed;
    rule.cfa_offset = 16;
    code.SetRule(slot->frame.load(), rule, function);
  }
  StackWalk() {
    Know(kFirstMethod, true, 1);
    Know(kSecondMethod, true, 2);
    Know(kThrower, false, 3);  // of the runtime: stands for native code
    for (uintptr_t i = 0; i < 100; ++i) Know(kNative + i, false, 0);
  }
  // Addresses where the ids are of any, leaf first; of the stack whose return addresses these are.
  std::vector<uint64_t> Walk(const std::vector<uintptr_t>& ips, NativeRuns runs) {
    std::vector<uintptr_t> stack;
    for (size_t i = 1; i <= ips.size(); ++i) {
      stack.push_back(0);
      stack.push_back(i < ips.size() ? ips[i] : 0);
    }
    const auto low = reinterpret_cast<uintptr_t>(stack.data());
    StackBounds own;
    own.low = low;
    own.high = low + stack.size() * sizeof(uintptr_t);
    size_t count = 0;
    EXPECT_EQ(WalkStack(code, nullptr, {ips[0], low, 0}, own, {frames, window}, &count, runs),
              WalkEnd::kDone);
    std::vector<uint64_t> out;
    for (size_t i = 0; i < count; ++i)
      out.push_back(frames[i] < kFirstFrame ? frames[i] : code.frame(frames[i])->ip);
    return out;
  }

  CodeTable code;
  uint32_t frames[kMaxDepth];
  std::byte window[kStackWindow];
};

TEST_F(StackWalk, NativeCodeBetweenMethodsIsOneFrameOrEach) {
  const std::vector<uintptr_t> ips = {kNative,     kNative + 1,   kFirstMethod, kNative + 2,
                                      kNative + 3, kSecondMethod, kNative + 4};
  EXPECT_EQ(Walk(ips, NativeRuns::kOne),
            (std::vector<uint64_t>{kFirstMethod, kNativeFrame, kSecondMethod}));
  EXPECT_EQ(Walk(ips, NativeRuns::kEach),
            (std::vector<uint64_t>{kFirstMethod, kNative + 2, kNative + 3, kSecondMethod}));
}

TEST_F(StackWalk, MethodsThatStandForNativeCodeAreNone) {
  EXPECT_EQ(Walk({kFirstMethod, kThrower, kSecondMethod}, NativeRuns::kEach),
            (std::vector<uint64_t>{kFirstMethod, kNativeFrame, kSecondMethod}));
  EXPECT_EQ(Walk({kFirstMethod, kThrower, kNative, kSecondMethod}, NativeRuns::kEach),
            (std::vector<uint64_t>{kFirstMethod, kNative, kSecondMethod}));
}

TEST_F(StackWalk, LongRunsEndInAFrameForTheRest) {
  std::vector<uintptr_t> ips = {kFirstMethod};
  for (uintptr_t i = 0; i < 50; ++i) ips.push_back(kNative + i);
  ips.push_back(kSecondMethod);
  const std::vector<uint64_t> told = Walk(ips, NativeRuns::kEach);
  ASSERT_EQ(told.size(), kMostNative + 2);
  EXPECT_EQ(told[1], kNative);
  EXPECT_EQ(told[kMostNative], kNativeFrame);
  EXPECT_EQ(told.back(), kSecondMethod);
}

TEST_F(StackWalk, DeepStacksStayWithinTheirRoom) {
  std::vector<uintptr_t> ips;
  for (int i = 0; i < 300; ++i)
    for (const uintptr_t ip : {kFirstMethod, kNative, kNative + 1}) ips.push_back(ip);
  for (const NativeRuns runs : {NativeRuns::kOne, NativeRuns::kEach}) {
    const std::vector<uint64_t> told = Walk(ips, runs);
    EXPECT_LE(told.size(), kMaxDepth);
    EXPECT_GE(told.size(), kMaxDepth - 5);
    EXPECT_EQ(told.back(), kTruncatedFrame);
    EXPECT_TRUE(IsCut({frames, told.size()}));
    EXPECT_FALSE(IsCut({frames, told.size() - 1}));
  }
}

}  // namespace
}  // namespace clrscope::agent
