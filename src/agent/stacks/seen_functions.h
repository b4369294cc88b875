// SPDX-License-Identifier: Apache-2.0
// The dynamic methods that were looked up, so that the unloading of all others waits for nobody.
// Written by the agent's thread, read by any. Of fixed size: when a row is full it says yes to all
// until it is cleared.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace clrscope::agent {

class SeenFunctions {
 public:
  void Add(uintptr_t id) {
    std::atomic<uintptr_t>* row = RowOf(id);
    for (size_t i = 0; i < kRow; ++i) {
      const uintptr_t there = row[i].load(std::memory_order_relaxed);
      if (there == id) return;
      if (there != 0) continue;
      row[i].store(id);
      return;
    }
    full_.store(true);
  }
  void Remove(uintptr_t id) {
    std::atomic<uintptr_t>* row = RowOf(id);
    for (size_t i = 0; i < kRow; ++i)
      if (row[i].load(std::memory_order_relaxed) == id) row[i].store(0);
  }
  // False: it was never looked up.
  bool Maybe(uintptr_t id) const {
    if (full_.load()) return true;
    const std::atomic<uintptr_t>* row = RowOf(id);
    for (size_t i = 0; i < kRow; ++i)
      if (row[i].load() == id) return true;
    return false;
  }
  bool full() const { return full_.load(std::memory_order_relaxed); }
  void Clear() {
    for (std::atomic<uintptr_t>& id : ids_) id.store(0, std::memory_order_relaxed);
    full_.store(false);
  }

 private:
  static constexpr size_t kRow = 16, kRows = 1024;
  static size_t Start(uintptr_t id) { return (id * 0x9E3779B97F4A7C15u >> 54) * kRow; }
  std::atomic<uintptr_t>* RowOf(uintptr_t id) { return &ids_[Start(id)]; }
  const std::atomic<uintptr_t>* RowOf(uintptr_t id) const { return &ids_[Start(id)]; }

  std::array<std::atomic<uintptr_t>, kRow * kRows> ids_{};
  std::atomic<bool> full_{false};
};

}  // namespace clrscope::agent
