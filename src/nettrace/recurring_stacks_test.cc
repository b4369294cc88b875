// SPDX-License-Identifier: Apache-2.0
#include "nettrace/recurring_stacks.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

namespace clrscope::nettrace {
namespace {

std::vector<uint32_t> Take(RecurringStacks& stacks, const std::vector<std::string>& block) {
  for (const std::string& ips : block) stacks.Add(AsBytes(ips.data(), ips.size()));
  std::vector<uint32_t> out(block.size());
  stacks.Resolve([&](size_t i, uint32_t memo) { out[i] = memo; });
  return out;
}

TEST(RecurringStacks, TheSameBytesHaveTheSameMemoAfterASequencePoint) {
  RecurringStacks stacks(/*remembered=*/true);
  const std::vector<uint32_t> first = Take(stacks, {"aaaaaaaa", "bbbbbbbb", "aaaaaaaa", ""});
  EXPECT_EQ(first[0], first[2]);
  EXPECT_EQ(std::set<uint32_t>(first.begin(), first.end()).size(), 3u);
  stacks.memo(first[1]).node = 42;
  stacks.Clear();
  const std::vector<uint32_t> second = Take(stacks, {"cccccccc", "bbbbbbbb"});
  EXPECT_EQ(stacks.memo(second[1]).node, 42u);
  EXPECT_EQ(stacks.memo(second[0]).node, 0u);
}

TEST(RecurringStacks, NotRememberedEveryStackHasAMemoOfItsOwn) {
  RecurringStacks stacks(/*remembered=*/false);
  const std::vector<uint32_t> first = Take(stacks, {"aaaaaaaa", "aaaaaaaa"});
  EXPECT_NE(first[0], first[1]);
  stacks.memo(first[0]).node = 42;
  stacks.Clear();
  EXPECT_EQ(stacks.memo(Take(stacks, {"aaaaaaaa"})[0]).node, 0u);
}

TEST(RecurringStacks, ABlockThatWasDamagedLeavesNothingBehind) {
  RecurringStacks stacks(/*remembered=*/true);
  stacks.Add(AsBytes("zzzzzzzz", 8));
  stacks.Forget();
  EXPECT_EQ(Take(stacks, {"aaaaaaaa", "bbbbbbbb"}).size(), 2u);
}

// Stacks that differ in one bit, in length, or in order, of every length there is.
TEST(RecurringStacks, DifferentStacksNeverShareAMemo) {
  std::mt19937_64 random(1);
  RecurringStacks stacks(/*remembered=*/true);
  std::map<std::string, uint32_t> memos;
  for (int i = 0; i < 4'000; ++i) {
    std::string ips(4 * (random() % 200), '\0');
    for (char& c : ips) c = static_cast<char>(random() % 4);
    std::vector<std::string> block = {ips};
    if (!ips.empty()) {
      std::string other = ips;
      other[random() % other.size()] ^= static_cast<char>(1 << random() % 8);
      block.push_back(other);
      block.push_back(ips + std::string(4, '\0'));
      block.push_back(ips.substr(4) + ips.substr(0, 4));
      block.push_back(ips);
    }
    const std::vector<uint32_t> taken = Take(stacks, block);
    for (size_t k = 0; k < block.size(); ++k)
      EXPECT_EQ(memos.try_emplace(block[k], taken[k]).first->second, taken[k]);
    if (i % 100 == 0) stacks.Clear();
  }
  std::set<uint32_t> distinct;
  for (const auto& [ips, memo] : memos) distinct.insert(memo);
  EXPECT_EQ(distinct.size(), memos.size());
  EXPECT_GT(memos.size(), 10'000u);
}

TEST(RecurringStacks, TooManyAreForgottenAtASequencePointAndNotBefore) {
  RecurringStacks stacks(/*remembered=*/true);
  const uint32_t first = Take(stacks, {"aaaaaaaa"})[0];
  stacks.memo(first).node = 42;
  for (uint32_t i = 0; i < 200'000; ++i) Take(stacks, {"n" + std::to_string(i)});
  EXPECT_EQ(Take(stacks, {"aaaaaaaa"})[0], first);
  stacks.Clear();
  EXPECT_EQ(stacks.memo(Take(stacks, {"aaaaaaaa"})[0]).node, 0u);
}

}  // namespace
}  // namespace clrscope::nettrace
