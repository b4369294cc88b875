// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/locks/wait_pairs.h"

#include <utility>

namespace clrscope::analysis {

namespace {

// Whether two nodes are of one stack. A method that is told to be loaded between their events has
// two nodes for one address.
bool IsSameStack(uint32_t a, uint32_t b, const profile::StackTree& stacks) {
  const auto address = [&stacks](uint32_t node) {
    return stacks.addresses()[stacks.address_index(node)].address;
  };
  while (a != b) {
    if (a < profile::StackTree::kFirstReal || b < profile::StackTree::kFirstReal ||
        address(a) != address(b))
      return false;
    a = stacks.parent(a);
    b = stacks.parent(b);
  }
  return true;
}

// Whether a wait begins within a contention: both stacks end in the same call, up to what the lock
// itself calls (NativeRuntimeEventSource.ContentionStart or WaitHandle.WaitOneNoCheck, both below
// Lock.TryEnterSlow).
bool IsWithin(const OpenWait& wait, const OpenWait& contention, const profile::StackTree& stacks) {
  constexpr int kOfTheLock = 2;
  uint32_t a = contention.node;
  for (int i = 0; i <= kOfTheLock; ++i, a = stacks.parent(a)) {
    uint32_t b = wait.node;
    for (int j = 0; j <= kOfTheLock; ++j, b = stacks.parent(b)) {
      if (IsSameStack(a, b, stacks)) return true;
      if (b < profile::StackTree::kFirstReal) break;
    }
    if (a < profile::StackTree::kFirstReal) break;
  }
  return false;
}

}  // namespace

bool WaitPairs::Begin(uint64_t thread, const OpenWait& wait, const profile::StackTree& stacks) {
  if (threads_.size() >= kMost && !threads_.contains(thread)) return false;
  Thread& t = threads_[thread];
  if (wait.source == profile::Source::kContention) {
    t.inner = false;
    return std::exchange(t.contention, wait).has_value();
  }
  bool gave_up = false;
  if (t.contention) {
    t.inner = IsWithin(wait, *t.contention, stacks);
    if (t.inner) return false;
    t.contention.reset();
    gave_up = true;
  }
  return std::exchange(t.wait, wait).has_value() || gave_up;
}

std::optional<OpenWait> WaitPairs::End(uint64_t thread, profile::Source source) {
  const auto it = threads_.find(thread);
  if (it == threads_.end()) return std::nullopt;
  Thread& t = it->second;
  std::optional<OpenWait> ended;
  if (source == profile::Source::kContention)
    ended = std::exchange(t.contention, std::nullopt);
  else if (t.inner)
    t.inner = false;
  else
    ended = std::exchange(t.wait, std::nullopt);
  if (t.idle()) threads_.erase(it);
  return ended;
}

uint32_t WaitPairs::NodeOf(uint64_t thread) const {
  const auto it = threads_.find(thread);
  if (it == threads_.end()) return 0;
  const Thread& t = it->second;
  return t.contention ? t.contention->node : t.wait ? t.wait->node : 0;
}

}  // namespace clrscope::analysis
