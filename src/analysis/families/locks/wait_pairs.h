// SPDX-License-Identifier: Apache-2.0
// Pairs the beginnings and ends of a process's waits. An end has neither stack nor lock: it belongs
// to the last beginning of its thread. While a thread waits for a contended lock, the runtime's
// inner wait is the same wait and is passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "analysis/families/requests/activity_path.h"
#include "profile/estimate/source.h"
#include "profile/stacks/stack_tree.h"

namespace clrscope::analysis {

struct OpenWait {
  profile::Source source = profile::Source::kContention;
  uint32_t node = 0;
  uint64_t owner = 0;  // the OS thread id of who holds the lock; 0 = unknown
  int64_t start_ns = 0;
  uint64_t lock = 0;        // the same for the lock's life; 0 = unknown
  ActivityPath activity;    // what the thread was at as the wait began
  uint32_t owner_node = 0;  // where the owner was waiting itself as this wait began; 0 = nowhere
};

class WaitPairs {
 public:
  // Threads that wait at one time; those past it are not followed.
  static constexpr size_t kMost = 100'000;

  // `stacks`: that the nodes are of. Returns whether the thread's beginning before this one never
  // ended: System.Threading.Lock writes no end when TryEnter gives up.
  bool Begin(uint64_t thread, const OpenWait& wait, const profile::StackTree& stacks);
  // What ended. Nothing: its beginning came before the recording's, or it is passed over.
  std::optional<OpenWait> End(uint64_t thread, profile::Source source);

  // Where a thread waits at the moment; 0 = it does not.
  uint32_t NodeOf(uint64_t thread) const;

  // Calls f(thread, wait) for those that go on, and forgets them.
  template <class F>
  void TakeOpen(F&& f) {
    for (const auto& [thread, state] : threads_)
      for (const auto& wait : {state.contention, state.wait})
        if (wait) f(thread, *wait);
    threads_.clear();
  }

 private:
  struct Thread {
    std::optional<OpenWait> contention, wait;
    bool inner = false;  // a wait within the contention began
    bool idle() const { return !contention && !wait && !inner; }
  };
  std::unordered_map<uint64_t, Thread> threads_;
};

}  // namespace clrscope::analysis
