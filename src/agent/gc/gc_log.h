// SPDX-License-Identifier: Apache-2.0
// The garbage collector's events, from the threads that collect to the agent's thread: a ring that
// nobody waits at.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "profile/estimate/reservoir.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::agent {

struct GcNote {
  enum class Kind : uint8_t { kStart, kEnd, kHeapStats, kSuspend, kRestart };
  Kind kind = Kind::kStart;
  uint32_t number = 0;
  int8_t generation = -1, type = -1, reason = -1;
  uint32_t thread = 0;    // that collects
  int64_t time_ns = 0;    // since the agent's start
  int64_t thread_ns = 0;  // CPU time of the thread
  std::array<int64_t, 5> sizes = {-1, -1, -1, -1, -1};
};

class GcRing {
 public:
  static constexpr size_t kSize = 1024;
  // From any thread; false: it is full.
  bool Push(const GcNote& note);
  bool Pop(GcNote& out);  // by one thread
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    std::atomic<uint64_t> turn{0};
    GcNote note;
  };
  std::array<Slot, kSize> slots_;
  std::atomic<uint64_t> head_{0};
  uint64_t tail_ = 0;
  std::atomic<uint64_t> lost_{0};
};

// Puts the notes together; on the agent's thread.
class GcHistory {
 public:
  void Add(const GcNote& note);
  // GCs that ended since the last call: for the live sample.
  std::vector<profile::GcPass> TakePasses();
  // … and for the frame; those that have not ended stay.
  std::vector<profile::IntervalGc> TakeGcs();
  // CPU time of collections on threads other than the collector's own, since the last call;
  // `is_gc_thread` says which are.
  template <class F>
  int64_t TakeWorkstationNs(F&& is_gc_thread) {
    int64_t sum = 0;
    for (const auto& [thread, ns] : work_)
      if (!is_gc_thread(thread)) sum += ns;
    work_.clear();
    return sum;
  }

 private:
  struct Open {
    profile::IntervalGc gc;
    uint32_t index = 0;
    uint32_t thread = 0;
    int64_t thread_ns = 0;
    bool ended = false;
  };
  std::deque<Open> open_;
  std::vector<profile::GcPass> passes_;
  std::vector<profile::IntervalGc> done_;
  std::vector<std::pair<uint32_t, int64_t>> work_;
  uint32_t begun_ = 0;
  int64_t suspended_at_ = -1;
};

}  // namespace clrscope::agent
