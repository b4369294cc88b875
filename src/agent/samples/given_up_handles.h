// SPDX-License-Identifier: Apache-2.0
// Handles of objects that are followed no more, until they are destroyed: by the program's threads
// while they allocate, inside the allocation's callback; at detach by the agent while the runtime
// is suspended (Agent::DestroyGivenUpHandles). Nowhere else, and never on a thread that runs
// freely: a collection walks and sorts the handle table's chains of blocks without their lock, as
// it has stopped all threads in cooperative mode (dotnet/runtime,
// src/coreclr/gc/handletablecore.cpp, SegmentResortChains). A thread that frees the last handle of
// a block meanwhile leaves a ring in such a chain, and whoever walks it next, while it holds the
// table's lock, never comes back.
//
// Outlives the agent's instances: what could not be destroyed when one let go, a later one has
// destroyed. Nothing of it is made on a thread of the program, or ever given back.
#pragma once

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/samples/lazy_memory.h"

namespace clrscope::agent {

class GivenUpHandles {
 public:
  static constexpr size_t kMost = size_t{1} << 20;
  static constexpr size_t kMostAtOnce = 64;

  static GivenUpHandles& Get() {
    static constinit GivenUpHandles handles;
    return handles;
  }

  constexpr GivenUpHandles() = default;
  GivenUpHandles(const GivenUpHandles&) = delete;
  GivenUpHandles& operator=(const GivenUpHandles&) = delete;

  // On the agent's thread. Where there is no room the handle stays, which costs a collection less
  // than 2 ns.
  void Push(uint64_t handle) {
    while (busy_.exchange(true, std::memory_order_acquire)) (void)::sched_yield();
    if (handles_ == nullptr) handles_ = LazyArray<uint64_t>(kMost);
    const size_t count = count_.load(std::memory_order_relaxed);
    if (handles_ != nullptr && count < kMost) {
      handles_[count] = handle;
      count_.store(count + 1, std::memory_order_relaxed);
    }
    busy_.store(false, std::memory_order_release);
  }
  // On a thread that a collection waits for: `destroy(handle)` for some of them, more the more
  // there are. Never waits. Returns how many these were.
  template <class Destroy>
  size_t DestroySome(Destroy&& destroy) {
    if (waiting() == 0 || busy_.exchange(true, std::memory_order_acquire)) return 0;
    std::array<uint64_t, kMostAtOnce> some;
    const size_t count = count_.load(std::memory_order_relaxed);
    const size_t n = std::min(count, std::clamp<size_t>(count / 64, 4, kMostAtOnce));
    std::copy_n(handles_ + (count - n), n, some.begin());
    count_.store(count - n, std::memory_order_relaxed);
    busy_.store(false, std::memory_order_release);
    for (size_t i = 0; i < n; ++i) destroy(some[i]);
    return n;
  }
  size_t waiting() const { return count_.load(std::memory_order_relaxed); }

 private:
  uint64_t* handles_ = nullptr;
  std::atomic<size_t> count_{0};
  std::atomic<bool> busy_{false};
};

}  // namespace clrscope::agent
