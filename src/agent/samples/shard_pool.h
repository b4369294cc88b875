// SPDX-License-Identifier: Apache-2.0
// The shards of all threads, made beforehand. A thread finds its own by its identity, the address
// of its descriptor in the C library, in a table of fixed size: no thread-local variable, whose
// first use may take the loader's lock and allocate, in a thread for which a GC may be waiting.
// None is ever freed; the agent's thread takes those of ended threads back. Outlives the agent's
// instances.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/samples/shard.h"

namespace clrscope::agent {

class ShardPool {
 public:
  static ShardPool& Get();
  static uintptr_t ThisThread() { return static_cast<uintptr_t>(::pthread_self()); }

  // On the program's threads: the calling thread's; nullptr when none is left, which is counted.
  enum class For : uint8_t { kSample, kEvent };
  Shard* Mine(uintptr_t self, For what = For::kSample);
  // There are less than half of the spare ones left: the agent's thread is to come.
  bool wants_more() const { return spare_count_.load(std::memory_order_relaxed) < kSpare / 2; }
  // Samples, and events, that found no shard, or theirs in use.
  void TurnAway(For what = For::kSample) {
    turned_away_[static_cast<size_t>(what)].fetch_add(1, std::memory_order_relaxed);
  }
  uint64_t turned_away(For what = For::kSample) const {
    return turned_away_[static_cast<size_t>(what)].load(std::memory_order_relaxed);
  }

  // Everything below: on one thread at a time.

  // Makes shards until kSpare are to be had.
  void Refill();
  // Takes back the shards of threads that have ended; `drain(shard)` empties one for good, and says
  // whether it could. `alive(id)`: whether there is a thread of that number.
  template <class Alive, class Drain>
  void TakeBack(Alive&& alive, Drain&& drain) {
    ForEach([&](Shard& s) {
      auto* place = static_cast<Place*>(s.place.load(std::memory_order_acquire));
      const uint32_t thread = s.thread_id.load(std::memory_order_relaxed);
      if (place == nullptr || place->shard.load(std::memory_order_acquire) != &s || alive(thread) ||
          !s.Disown())
        return;
      // Another thread may have got the owner's identity, and have said so.
      if (s.thread_id.load(std::memory_order_relaxed) == thread && drain(s)) {
        Vacate(s);
      } else {
        s.Own(place->thread.load(std::memory_order_relaxed));
      }
    });
  }
  // Looks for the stacks of threads that came since the last call, or that were found outside of
  // the stack that they had. At most ten times a second.
  void FindStacks(int64_t now_ns);
  template <class F>
  void ForEach(F&& f) {
    for (Shard* s = all_.load(std::memory_order_acquire); s != nullptr; s = s->next) f(*s);
  }
  size_t count() const { return count_; }

  static constexpr size_t kSpare = 64;

 private:
  // A thread's identity hashes to a row; it is in one of the row's places or nowhere.
  static constexpr size_t kRow = 16, kRows = 1024;
  struct Place {
    std::atomic<uintptr_t> thread{0};
    std::atomic<Shard*> shard{nullptr};
  };
  Place* RowOf(uintptr_t thread) { return &places_[(thread * 0x9E3779B97F4A7C15u >> 54) * kRow]; }
  Shard* Settle(Place* row, uintptr_t self);
  Shard* TakeSpare();
  Shard* Make();
  void Vacate(Shard& s);

  std::array<Place, kRow * kRows> places_{};
  std::array<std::atomic<Shard*>, kSpare> spare_{};
  std::atomic<size_t> spare_count_{0};
  std::atomic<Shard*> all_{nullptr};
  std::array<std::atomic<uint64_t>, 2> turned_away_{};  // by For
  Shard* idle_ = nullptr;  // those that are neither a thread's nor spare
  size_t count_ = 0;
  int64_t looked_ns_ = 0;
};

}  // namespace clrscope::agent
