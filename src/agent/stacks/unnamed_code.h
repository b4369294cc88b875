// SPDX-License-Identifier: Apache-2.0
// Addresses of code that no stack snapshot names: dynamic methods, stubs, and methods of the
// runtime's that its own walks pass over. Whose code it is, the runtime looks up in its table of
// code ranges. A thread that the runtime does not know, as the agent's, reads that table without
// its lock, while unloading and collections free parts of it. So there are two places to look up:
// - on a thread of the program that is about to unload code, inside the runtime's callback;
// - while the runtime is suspended.
// Source: dotnet/runtime src/coreclr/vm/codeman.cpp, ExecutionManager::GetScanFlags and
// EEJitManager::CleanupCodeHeaps
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "agent/com/corprof.h"

namespace clrscope::agent {

class UnnamedCode {
 public:
  static constexpr size_t kMost = 256;
  struct Address {
    uint32_t frame = 0;
    uintptr_t ip = 0;         // a return address
    bool looked_up = false;   // `function` says what it is
    FunctionId function = 0;  // 0: of no function
  };

  // On the agent's thread, while there is room.
  void Add(uint32_t frame, uintptr_t ip);
  bool full() const { return size() == kMost; }
  // Where it is allowed, see above. Never waits: where the agent's thread is at the list just now,
  // nothing is looked up.
  void LookUp(ICorProfilerInfo* info);
  // On the agent's thread. `resolve(address)` for all of them, and only then are they out of the
  // list: until then a thread that unloads sees that there are some.
  template <class Resolve>
  void ResolveAll(Resolve&& resolve) {
    for (const Address& a : Copy()) resolve(a);
    size_.store(0, std::memory_order_release);
  }
  size_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  void Enter();  // on the agent's thread: the other is at the list for some microseconds
  void Leave() { busy_.store(false, std::memory_order_release); }
  std::vector<Address> Copy();

  std::atomic<bool> busy_{false};
  std::array<Address, kMost> addresses_;
  std::atomic<size_t> size_{0};
};

}  // namespace clrscope::agent
