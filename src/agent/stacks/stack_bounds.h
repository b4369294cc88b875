// SPDX-License-Identifier: Apache-2.0
// Where a thread's own stack lies: between these bounds every address can be read for as long as
// the thread lives. Managed code may run elsewhere, too: on a fiber, on an alternate signal stack.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

namespace clrscope::agent {

struct StackBounds {
  uintptr_t low = 0, high = 0;
  bool Holds(uintptr_t address) const { return address >= low && address < high; }
  bool operator==(const StackBounds&) const = default;
};

// Written by the agent's thread, read by the stack's.
class AtomicStackBounds {
 public:
  void Set(const StackBounds& b) {
    high_.store(0, std::memory_order_release);  // nothing lies below it
    low_.store(b.low, std::memory_order_release);
    high_.store(b.high, std::memory_order_release);
  }
  StackBounds Get() const {
    const uintptr_t high = high_.load(std::memory_order_acquire);
    return {low_.load(std::memory_order_acquire), high};
  }

 private:
  std::atomic<uintptr_t> low_{0}, high_{0};
};

// The mappings of this process, as of one moment.
class StackMap {
 public:
  // The text of /proc/self/maps.
  explicit StackMap(std::string_view maps);
  static StackMap OfThisProcess();

  // The stack of the thread whose descriptor, which pthread_self() points to, lies at `thread`.
  // Empty when it is not certain: the C library puts the descriptor on top of a thread's stack, in
  // the same mapping, and a page that cannot be read below it; a stack that the program made itself
  // may have other things beside it. `main`: of the first thread, whose stack the kernel made.
  // Source: glibc nptl/allocatestack.c, musl src/thread/pthread_create.c
  StackBounds Of(uintptr_t thread, bool main) const;

 private:
  struct Mapping {
    uintptr_t begin = 0, end = 0;
    bool readable = false, stack = false;
  };
  std::vector<Mapping> mappings_;  // by address
};

}  // namespace clrscope::agent
