// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/locks/lock_holders.h"

#include <algorithm>
#include <tuple>

namespace clrscope::analysis {
namespace {

bool IsBefore(const RecentMoments::Moment& a, const RecentMoments::Moment& b) {
  return std::tie(a.key, a.time_ns) < std::tie(b.key, b.time_ns);
}

}  // namespace

// From the newest back. Sessions are read by turns, so that moments are in order but for some
// 100 ms.
void RecentMoments::Index(std::span<const uint64_t> keys, int64_t from_ns) {
  constexpr int64_t kOutOfOrderNs = 2'000'000'000;
  index_.clear();
  for (size_t i = 0; i < moments_.size(); ++i) {
    const Moment& m = moments_[(next_ + moments_.size() - 1 - i) % moments_.size()];
    if (m.time_ns < from_ns - kOutOfOrderNs) break;
    if (m.time_ns >= from_ns && std::binary_search(keys.begin(), keys.end(), m.key))
      index_.push_back(m);
  }
  std::reverse(index_.begin(), index_.end());
  std::stable_sort(index_.begin(), index_.end(), IsBefore);
}

const RecentMoments::Moment* RecentMoments::First(uint64_t key, int64_t from_ns) const {
  const auto it = std::lower_bound(index_.begin(), index_.end(), Moment{key, from_ns, 0}, IsBefore);
  return it == index_.end() || it->key != key ? nullptr : &*it;
}

void RecentMoments::Clear() {
  moments_.clear();
  index_.clear();
  next_ = 0;
}

void LockHolders::Note(uint64_t thread, int64_t time_ns, uint32_t node, Comes comes) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  constexpr int64_t kOftenNs = kSecondNs / static_cast<int64_t>(RecentMoments::kMost);
  if (node < profile::StackTree::kFirstReal) return;
  apart_ = apart_ || comes != Comes::kWithWaits;
  if (comes == Comes::kOften) {
    const int64_t since_ns = time_ns - noted_often_ns_;
    if (since_ns >= 0 && since_ns < kOftenNs) return;
    noted_often_ns_ = time_ns;
  }
  samples_.Add({thread, time_ns, node});
}

void LockHolders::Add(const EndedWait& wait) {
  waits_.push_back(wait);
  if (wait.finished && wait.wait.lock != 0) handovers_.Add({wait.wait.lock, wait.end_ns, 0});
}

void LockHolders::Index() {
  const auto index = [this](RecentMoments& moments, uint64_t OpenWait::*key) {
    keys_.clear();
    int64_t from_ns = waits_.front().wait.start_ns;
    for (const EndedWait& w : waits_) {
      keys_.push_back(w.wait.*key);
      from_ns = std::min(from_ns, w.wait.start_ns);
    }
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    moments.Index(keys_, from_ns);
  };
  index(samples_, &OpenWait::owner);
  index(handovers_, &OpenWait::lock);
}

// The first event counts: when the wait began the owner was known to hold the lock, and once
// another one who waited for it goes on it no longer does.
uint32_t LockHolders::NodeOf(const EndedWait& ended) const {
  const OpenWait& wait = ended.wait;
  int64_t until_ns = ended.end_ns;
  if (const auto* handover = handovers_.First(wait.lock, wait.start_ns + 1); handover != nullptr)
    until_ns = std::min(until_ns, handover->time_ns);
  const auto* sample = samples_.First(wait.owner, wait.start_ns);
  return sample != nullptr && sample->time_ns <= until_ns ? sample->node : wait.owner_node;
}

void LockHolders::Clear() {
  waits_.clear();
  samples_.Clear();
  handovers_.Clear();
  noted_often_ns_ = 0;
}

}  // namespace clrscope::analysis
