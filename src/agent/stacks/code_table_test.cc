// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/code_table.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace clrscope::agent {
namespace {

TEST(CodeTable, AnAddressKeepsItsFrame) {
  CodeTable t;
  ASSERT_TRUE(t.ok());
  const CodeTable::Slot* a = t.FindOrAdd(0x1000);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(t.FindOrAdd(0x1000), a);
  EXPECT_EQ(a->frame.load(), kFirstFrame);
  EXPECT_EQ(t.FindOrAdd(0x2000)->frame.load(), kFirstFrame + 1);
  EXPECT_EQ(unwind::FrameRule::Unpack(a->rule.load()).state, unwind::RuleState::kPending);
  unwind::FrameRule rule;
  rule.state = unwind::RuleState::kKnown;
  rule.cfa_offset = 16;
  t.SetRule(kFirstFrame, rule, 77);
  EXPECT_EQ(unwind::FrameRule::Unpack(a->rule.load()).cfa_offset, 16u);
  EXPECT_EQ(t.frame(kFirstFrame)->function.load(), 77u);
}

TEST(CodeTable, AfterUnloadingAnAddressIsSomethingElse) {
  CodeTable t;
  const uint32_t before = t.FindOrAdd(0x1000)->frame.load();
  t.Retire(before);
  EXPECT_FALSE(t.current(before));
  EXPECT_EQ(t.frame_count(), kFirstFrame + 1) << "no frame before its next sighting";
  const CodeTable::Slot* slot = t.FindOrAdd(0x1000);
  EXPECT_NE(slot->frame.load(), before);
  EXPECT_TRUE(t.current(slot->frame.load()));
  unwind::FrameRule rule;
  rule.state = unwind::RuleState::kKnown;
  t.SetRule(before, rule, 1);
  EXPECT_EQ(unwind::FrameRule::Unpack(slot->rule.load()).state, unwind::RuleState::kPending)
      << "the old frame's rule is not the new one's";
}

TEST(CodeTable, ManyThreadsAddTheSameAddresses) {
  CodeTable t;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (uint64_t ip = 1; ip <= 20'000; ++ip) ASSERT_NE(t.FindOrAdd(ip * 16), nullptr);
    });
  for (std::thread& thread : threads) thread.join();
  for (uint64_t ip = 1; ip <= 20'000; ++ip) {
    const CodeTable::Slot* s = t.FindOrAdd(ip * 16);
    ASSERT_NE(s, nullptr);
    EXPECT_EQ(t.frame(s->frame.load())->ip, ip * 16);
  }
}

// A frame that its address does not mean is not asked about again.
TEST(CodeTable, AFrameIsOfItsAddressFromTheMomentThatItIsSeen) {
  constexpr uint32_t kAll = 50'000;
  CodeTable t;
  uint32_t next = kFirstFrame, wrong = 0;
  for (int sighting = 1; sighting <= 2; ++sighting) {  // the second one after it was retired
    std::thread adds([&] {
      for (uint32_t n = 1; n <= kAll; ++n) (void)t.FindOrAdd(n * 16);
    });
    for (uint32_t n = 0; n < kAll; ++n, ++next) {
      while (t.frame(next) == nullptr) {
      }
      if (!t.current(next)) ++wrong;
    }
    adds.join();
    for (uint32_t n = 1; n <= kAll; ++n) t.Retire(t.Find(n * 16)->frame.load());
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(CodeTable, IsFullAtSomePointAndCanBeCleared) {
  CodeTable t;
  uint64_t ip = 2;
  while (t.FindOrAdd(ip * 32) != nullptr && ip < 1'000'000) ++ip;
  EXPECT_LT(ip, 1'000'000u);
  EXPECT_TRUE(t.crowded());
  t.Clear();
  EXPECT_FALSE(t.crowded());
  EXPECT_EQ(t.FindOrAdd(4096)->frame.load(), kFirstFrame);
}

}  // namespace
}  // namespace clrscope::agent
