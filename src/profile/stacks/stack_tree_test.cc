// SPDX-License-Identifier: Apache-2.0
#include "profile/stacks/stack_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace clrscope::profile {
namespace {

// Leaf first, as the runtime writes them.
using Ips = std::vector<uint64_t>;

template <class Ip>
uint32_t FoldAs(StackTree& tree, const Ips& ips, uint64_t thread) {
  const std::vector<Ip> wire(ips.begin(), ips.end());
  return tree.Fold(reinterpret_cast<const std::byte*>(wire.data()),
                   static_cast<uint32_t>(wire.size()), sizeof(Ip), thread, 0);
}

Ips PathOf(const StackTree& tree, uint32_t node) {
  Ips ips;
  for (; node >= StackTree::kFirstReal; node = tree.parent(node))
    ips.push_back(tree.addresses()[tree.address_index(node)].address);
  return ips;
}

// The next stack of a thread: some frames of the last one go and others come. Few addresses, so
// that recursion repeats them over many frames.
Ips NextStack(const Ips& last, std::mt19937& random) {
  const auto below = [&](size_t n) { return random() % n; };
  const size_t kept =
      below(4) == 0 ? below(last.size() + 1) : last.size() - below(4) % (last.size() + 1);
  const size_t depth = std::min<size_t>(kept + below(6), StackTree::kRuntimeLimit - 1);
  Ips next(depth);
  for (size_t i = 0; i < depth; ++i)  // from the root on
    next[depth - 1 - i] = i < kept ? last[last.size() - 1 - i] : 0x40001000 + 0x40 * below(3);
  return next;
}

template <class Ip>
void ExpectEachStackIsOneNode(uint32_t seed) {
  constexpr size_t kThreads = 3;
  std::mt19937 random(seed);
  StackTree tree;
  std::map<Ips, uint32_t> nodes;
  std::vector<Ips> last(kThreads);
  for (int i = 0; i < 30'000; ++i) {
    const size_t thread = random() % kThreads;
    const Ips stack = NextStack(last[thread], random);
    last[thread] = stack;
    if (stack.empty()) continue;
    const uint32_t node = FoldAs<Ip>(tree, stack, thread);
    const auto [it, is_new] = nodes.try_emplace(stack, node);
    ASSERT_EQ(it->second, node) << "stack " << i;
    if (is_new) {
      ASSERT_EQ(PathOf(tree, node), stack) << "stack " << i;
    }
  }
  EXPECT_GT(nodes.size(), 5'000u);
}

TEST(StackTree, AStackIsOneNodeHoweverMuchItSharesWithTheOneBefore) {
  ExpectEachStackIsOneNode<uint64_t>(1);
  ExpectEachStackIsOneNode<uint32_t>(2);
}

TEST(StackTree, ARecursionThatGrowsByAnyNumberOfFramesIsFollowed) {
  StackTree tree;
  for (size_t depth = 1; depth < StackTree::kRuntimeLimit; ++depth) {
    const Ips stack(depth, 0x40001000);
    EXPECT_EQ(PathOf(tree, FoldAs<uint64_t>(tree, stack, 7)), stack);
  }
  for (size_t depth = StackTree::kRuntimeLimit - 1; depth > 16; depth -= 16) {
    Ips stack(depth, 0x40001000);
    stack[depth - 16] = 0x40002000;  // the sixteenth from the root
    EXPECT_EQ(PathOf(tree, FoldAs<uint64_t>(tree, stack, 7)), stack);
  }
}

}  // namespace
}  // namespace clrscope::profile
