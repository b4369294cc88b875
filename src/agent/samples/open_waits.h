// SPDX-License-Identifier: Apache-2.0
// The waits that one thread of the program is in. Its ends have neither stack nor lock: they belong
// to the thread's last beginning. While it waits for a contended lock, the runtime's inner wait is
// the same wait and is passed over. The same rules as analysis/families/locks/wait_pairs.h, without
// its tables: a shard is one thread's.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "agent/stacks/stack_walk.h"

namespace clrscope::agent {

class OpenWait {
 public:
  // By its thread. False: the agent's thread is telling of it right now, and the new one is lost.
  bool Begin(std::span<const uint32_t> stack, int64_t now_ns, uint64_t owner, uint32_t code) {
    if (state_.load(std::memory_order_acquire) == kTold) return false;
    count_ = static_cast<uint32_t>(stack.size());
    for (uint32_t i = 0; i < count_; ++i) frames_[i] = stack[i];
    start_ns_ = now_ns;
    owner_ = owner;
    code_ = code;
    state_.store(kOpen, std::memory_order_release);
    return true;
  }
  // By its thread, or by the agent's once the thread has ended: forgets it. False: there is none.
  bool End() {
    uint32_t open = kOpen;
    return state_.compare_exchange_strong(open, kNone, std::memory_order_acq_rel);
  }
  bool is_open() const { return state_.load(std::memory_order_relaxed) == kOpen; }
  // By the agent's thread: f() while nobody writes it, which forgets it then.
  template <class F>
  void Tell(F&& f) {
    uint32_t open = kOpen;
    if (!state_.compare_exchange_strong(open, kTold, std::memory_order_acq_rel)) return;
    f();
    state_.store(kNone, std::memory_order_release);
  }

  std::span<const uint32_t> stack() const { return {frames_, count_}; }
  int64_t start_ns() const { return start_ns_; }
  uint64_t owner() const { return owner_; }
  uint32_t code() const { return code_; }  // of which numbering its frames are

 private:
  static constexpr uint32_t kNone = 0, kOpen = 1, kTold = 2;
  std::atomic<uint32_t> state_{kNone};
  uint32_t count_ = 0, code_ = 0;
  int64_t start_ns_ = 0;
  uint64_t owner_ = 0;
  uint32_t frames_[kMaxDepth];  // pages that nobody touches stay the kernel's
};

struct OpenWaits {
  OpenWait contention, wait;
  bool inner = false;  // a wait within the contention began
};

}  // namespace clrscope::agent
