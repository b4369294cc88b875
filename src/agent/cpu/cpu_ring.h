// SPDX-License-Identifier: Apache-2.0
// Samples of CPU time on their way from signal handlers to the agent's thread: a ring of cells of
// one size, without a lock. Who finds it full goes away, and is counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/samples/lazy_memory.h"

namespace clrscope::agent {

// What throws and collects uses 12 KB of its stack and more.
inline constexpr size_t kCpuFrames = 127, kCpuStackBytes = 16384;

struct CpuCell {
  std::atomic<uint64_t> turn;  // 2 * lap: free in that lap; one more: filled
  int64_t time_ns;             // CLOCK_MONOTONIC
  uint64_t ip, sp, bp;
  uint32_t thread;   // as the process counts
  uint32_t periods;  // of the thread's timer that it stands for
  uint16_t frames, stack_bytes;
  bool in_kernel;              // it was on its way back from a system call
  bool cut;                    // memory of the stack could not be read
  uint64_t chain[kCpuFrames];  // return addresses by frame pointers, innermost first
  alignas(8) std::byte stack[kCpuStackBytes];  // from sp on
};

class CpuRing {
 public:
  explicit CpuRing(size_t cells) : size_(cells), cells_(LazyArray<CpuCell>(cells)) {}
  ~CpuRing() { FreeLazy(cells_, size_); }
  CpuRing(const CpuRing&) = delete;
  CpuRing& operator=(const CpuRing&) = delete;
  bool ok() const { return cells_ != nullptr; }

  // On any thread, in a signal handler: a cell to fill, or nullptr, which is counted.
  CpuCell* Claim() {
    uint64_t at = head_.load(std::memory_order_relaxed);
    for (int i = 0; i < kTries; ++i) {
      CpuCell& cell = cells_[at % size_];
      const uint64_t turn = cell.turn.load(std::memory_order_acquire), free = at / size_ * 2;
      if (turn == free && head_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed))
        return &cell;
      if (turn < free) break;  // not read yet
      at = head_.load(std::memory_order_relaxed);
    }
    lost_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  static void Commit(CpuCell* cell) {
    cell->turn.store(cell->turn.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // On one thread: the oldest, or nullptr when there is none, or it is still being filled.
  const CpuCell* Front() const {
    const CpuCell& cell = cells_[tail_ % size_];
    return cell.turn.load(std::memory_order_acquire) == tail_ / size_ * 2 + 1 ? &cell : nullptr;
  }
  void Drop() {
    CpuCell& cell = cells_[tail_ % size_];
    ++tail_;
    cell.turn.store(cell.turn.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // Gives memory back, while nobody is in it and it is empty.
  void ReleasePages() {
    ZeroLazy(cells_, size_);
    head_.store(0, std::memory_order_relaxed);
    tail_ = 0;
  }

  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
  size_t size() const { return size_; }
  // Roughly: as claimed.
  size_t waiting() const {
    return static_cast<size_t>(head_.load(std::memory_order_relaxed) - tail_);
  }

 private:
  static constexpr int kTries = 64;  // others that were faster
  const size_t size_;
  CpuCell* cells_;
  std::atomic<uint64_t> head_{0}, lost_{0};
  uint64_t tail_ = 0;
};

}  // namespace clrscope::agent
