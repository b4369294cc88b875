// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/shard.h"

#include <gtest/gtest.h>

#include <array>
#include <new>
#include <thread>
#include <vector>

namespace clrscope::agent {
namespace {

using profile::HeapKind;

TEST(ShardTable, FoldsEqualStacksAndTypes) {
  ShardTable t;
  ASSERT_TRUE(t.ok());
  const std::array<uint32_t, 3> a = {5, 6, 7}, b = {5, 6, 8};
  const uint32_t first = t.Fold(a, 100, HeapKind::kSoh);
  EXPECT_EQ(t.Fold(a, 100, HeapKind::kSoh), first);
  EXPECT_NE(t.Fold(b, 100, HeapKind::kSoh), first);
  EXPECT_NE(t.Fold(a, 101, HeapKind::kSoh), first);
  EXPECT_NE(t.Fold(a, 100, HeapKind::kLoh), first);
  EXPECT_NE(t.Fold({}, 100, HeapKind::kSoh), first);
  EXPECT_EQ(t.entries().size(), 5u);
  EXPECT_EQ(t.frames_of(t.entries()[0]).size(), 3u);
}

TEST(ShardTable, SaysWhenItIsFullAndIsEmptyAfterClear) {
  ShardTable t;
  std::array<uint32_t, 2> stack = {9, 0};
  for (int round = 0; round < 3; ++round) {
    uint32_t i = 0;
    for (;; ++i) {
      stack[1] = i;
      if (t.Fold(stack, 1, HeapKind::kSoh) == ShardTable::kNone) break;
    }
    EXPECT_EQ(i, ShardTable::kEntries);
    EXPECT_TRUE(t.filling());
    t.Clear();
    EXPECT_TRUE(t.empty());
  }
  // Few entries take another way to be cleared.
  for (uint32_t i = 0; i < 100; ++i) {
    stack[1] = i;
    t.Fold(stack, 1, HeapKind::kSoh);
  }
  t.Clear();
  for (uint32_t i = 0; i < 100; ++i) {
    stack[1] = i;
    EXPECT_EQ(t.Fold(stack, 1, HeapKind::kSoh), i);
  }
}

// What a thread folds while another empties: every sample is counted exactly once.
TEST(Shard, NothingIsLostOrCountedTwiceWhileItIsEmptied) {
  Shard shard(1);
  ASSERT_TRUE(shard.ok());
  constexpr uintptr_t kOwner = 7;
  shard.Own(kOwner);
  constexpr uint64_t kSamples = 200'000;
  std::atomic<bool> done{false};
  std::thread owner([&] {
    std::array<uint32_t, 2> stack = {4, 0};
    for (uint64_t i = 0; i < kSamples;) {
      ShardTable* t = shard.Enter(kOwner);
      ASSERT_NE(t, nullptr);
      stack[1] = static_cast<uint32_t>(i % 50);
      const uint32_t entry = t->Fold(stack, 1, HeapKind::kSoh);
      if (entry != ShardTable::kNone) {
        t->entry(entry).value.samples += 1;
        ++i;
      }
      shard.Leave();
    }
    done.store(true);
  });
  uint64_t seen = 0;
  const auto empty = [&] {
    (void)shard.Empty([&](const ShardTable& t) {
      for (const ShardEntry& e : t.entries()) seen += e.value.samples;
    });
  };
  while (!done.load()) empty();
  owner.join();
  empty();
  EXPECT_EQ(seen, kSamples);
}

// A sample of this type; `within` is called while the owner is in it.
template <class Within>
void SampleOne(Shard& shard, uintptr_t owner, uint64_t type, Within&& within) {
  ShardTable* table = shard.Enter(owner);
  ASSERT_NE(table, nullptr);
  within();
  const std::array<uint32_t, 1> stack = {4};
  EXPECT_EQ(table->Fold(stack, type, HeapKind::kSoh), 0u);
  shard.Leave();
}

// What the owner does after a flip that it was in the way of goes into the other table.
TEST(Shard, GivesAllThatWasMadeAlsoAfterItsOwnerWasInTheWay) {
  Shard shard(1);
  ASSERT_TRUE(shard.ok());
  shard.Own(7);
  size_t seen = 0;
  const auto empty = [&] {
    return shard.Empty([&](const ShardTable& t) { seen += t.entries().size(); });
  };
  SampleOne(shard, 7, 1, [&] { EXPECT_FALSE(empty()) << "it is in a sample"; });
  SampleOne(shard, 7, 2, [] {});
  EXPECT_TRUE(empty());
  EXPECT_EQ(seen, 2u);
  EXPECT_TRUE(empty());
  EXPECT_EQ(seen, 2u);
}

// No memory: what was left there must not pass for what is sampled later.
TEST(Shard, GivesWhatWasLeftWhenTakingItFailed) {
  Shard shard(1);
  ASSERT_TRUE(shard.ok());
  shard.Own(7);
  SampleOne(shard, 7, 1, [] {});
  EXPECT_THROW((void)shard.Empty([](const ShardTable&) { throw std::bad_alloc(); }),
               std::bad_alloc);
  SampleOne(shard, 7, 2, [] {});
  size_t seen = 0;
  EXPECT_TRUE(shard.Empty([&](const ShardTable& t) { seen += t.entries().size(); }));
  EXPECT_EQ(seen, 2u);
}

TEST(Shard, IsNobodysOnceItWasTakenBack) {
  Shard shard(1);
  ASSERT_TRUE(shard.ok());
  shard.Own(7);
  EXPECT_EQ(shard.Enter(8), nullptr);
  ASSERT_NE(shard.Enter(7), nullptr);
  EXPECT_EQ(shard.Enter(7), nullptr) << "it is in a sample";
  EXPECT_FALSE(shard.Disown()) << "it is in a sample";
  shard.Leave();
  EXPECT_NE(shard.Enter(7), nullptr) << "it is still the owner's";
  shard.Leave();
  EXPECT_TRUE(shard.Disown());
  EXPECT_EQ(shard.Enter(7), nullptr) << "of another thread with the owner's identity";
}

}  // namespace
}  // namespace clrscope::agent
