// SPDX-License-Identifier: Apache-2.0
// What the owners of contended locks did while they were waited for, as far as an event tells: its
// stack is what the owner was at. Sessions are read one after the other, so an event of one may
// come some 100 ms before or after its time in another: waits that are over stay here until their
// slice of time is, and those of its end that no event told until the next one is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/families/locks/wait_pairs.h"

namespace clrscope::analysis {

struct EndedWait {
  uint64_t thread = 0;
  OpenWait wait;
  int64_t end_ns = 0;        // of the events' clock, as the wait's start
  uint64_t duration_ns = 0;  // as it is told
  bool finished = true;
};

// The last so many moments; a thread or a lock is the key.
class RecentMoments {
 public:
  static constexpr size_t kMost = 1 << 15;
  struct Moment {
    uint64_t key = 0;
    int64_t time_ns = 0;
    uint32_t node = 0;
  };

  void Add(const Moment& moment) {
    if (moments_.size() < kMost) return moments_.push_back(moment);
    moments_[next_] = moment;
    next_ = (next_ + 1) % kMost;
  }
  // Those of `keys` (sorted) from a time on are found afterwards.
  void Index(std::span<const uint64_t> keys, int64_t from_ns);
  // The first one at or after a time; null: none.
  const Moment* First(uint64_t key, int64_t from_ns) const;
  void Clear();

 private:
  std::vector<Moment> moments_, index_;
  size_t next_ = 0;  // to be overwritten
};

class LockHolders {
 public:
  static constexpr size_t kMostWaits = 1 << 13;
  static constexpr int64_t kLateNs = 150'000'000;

  // Nobody has waited for a lock whose owner is known: no event needs to be noted.
  bool idle() const { return idle_; }
  void Begin() { idle_ = false; }
  // How an event comes: in the waits' own session, in another one, or in another one by the
  // million. Of the latter a part is noted, so that there is room for a slice of time.
  enum class Comes : uint8_t { kWithWaits, kApart, kOften };
  // An event with a stack.
  void Note(uint64_t thread, int64_t time_ns, uint32_t node, Comes comes);

  bool full() const { return waits_.size() >= kMostWaits; }
  void Add(const EndedWait& wait);
  // Calls f(wait, node) for the waits that were added, in order, and forgets them, but those that
  // an event which comes late may tell yet: `slice_end_ns` is the end of their slice. `node`: the
  // owner's stack; 0 = no event told.
  template <class F>
  void Settle(int64_t slice_end_ns, F&& f) {
    if (waits_.empty()) return;
    Index();
    size_t kept = 0;
    for (const EndedWait& wait : waits_) {
      const uint32_t node = NodeOf(wait);
      if (node == 0 && apart_ && wait.finished && wait.end_ns > slice_end_ns - kLateNs)
        waits_[kept++] = wait;
      else
        f(wait, node);
    }
    waits_.resize(kept);
  }
  template <class F>
  void SettleAll(F&& f) {
    Settle(INT64_MAX, f);
  }
  // Forgets everything: another recording begins.
  void Clear();

 private:
  void Index();
  uint32_t NodeOf(const EndedWait& wait) const;

  bool idle_ = true;
  bool apart_ = false;  // events of other sessions come
  int64_t noted_often_ns_ = 0;
  std::vector<EndedWait> waits_;
  RecentMoments samples_;    // by thread
  RecentMoments handovers_;  // by lock: somebody who had waited for it went on
  std::vector<uint64_t> keys_;
};

}  // namespace clrscope::analysis
