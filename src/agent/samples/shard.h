// SPDX-License-Identifier: Apache-2.0
// What one thread of the program has sampled since the agent's thread last came by: folded by
// (stack, type, kind), the objects to follow, and exceptions and waits. The owner writes one of two
// tables without a lock; the agent's thread makes the other one current and empties the first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "agent/async/async_end.h"
#include "agent/samples/open_waits.h"
#include "agent/stacks/stack_bounds.h"
#include "agent/stacks/stack_walk.h"
#include "base/com/unknown.h"
#include "profile/estimate/estimate.h"
#include "profile/estimate/reservoir.h"
#include "profile/tables/series.h"

namespace clrscope::agent {

struct ShardKey {
  uint64_t type = 0;  // ClassID; of exceptions the id of ThrownNames
  profile::HeapKind kind = profile::HeapKind::kSoh;
  uint32_t epoch = 0;  // of the lookup gate, while the type was there
  profile::Source event = profile::Source::kForeign;  // kException …; else it is an allocation
  uint32_t thread = 0;  // of events: the OS thread id, as an ended one's shard may be used again
  uint64_t owner = 0;   // of the lock: an OS thread id
  uint32_t window = 0;  // SampleWindow::TagOf()
  bool operator==(const ShardKey&) const = default;
};
struct ShardEntry : ShardKey {
  uint64_t hash = 0;
  uint32_t first_frame = 0, frame_count = 0;
  profile::Estimate value;  // of allocations
  profile::Sums sums;       // of events
};

// A sampled object that is to be followed.
struct ShardBirth {
  uint64_t handle = 0;
  uint64_t size = 0;
  double amount = 0;
  int64_t alloc_ns = 0;
  uint32_t entry = 0;
  uint32_t alloc_gc = 0;
  uint8_t level = 0;
  Guid activity{};  // of the thread, where requests are told apart; zero = none
};

class ShardTable {
 public:
  static constexpr size_t kEntries = 4096;
  static constexpr size_t kBuckets = kEntries * 2;
  static constexpr size_t kFrames = kEntries * 48;
  static constexpr size_t kBirths = 8192;

  ShardTable();
  ~ShardTable();
  ShardTable(const ShardTable&) = delete;
  ShardTable& operator=(const ShardTable&) = delete;
  bool ok() const {
    return entries_ != nullptr && buckets_ != nullptr && frames_ != nullptr && births_ != nullptr;
  }

  // The entry of this stack and type; kNone when the table is full. Types of different epochs may
  // be different ones of the same id.
  static constexpr uint32_t kNone = ~0u;
  uint32_t Fold(std::span<const uint32_t> frames, const ShardKey& key);
  uint32_t Fold(std::span<const uint32_t> frames, uint64_t type, profile::HeapKind kind,
                uint32_t epoch = 0) {
    return Fold(frames, ShardKey{type, kind, epoch});
  }
  ShardEntry& entry(uint32_t i) { return entries_[i]; }
  std::span<const ShardEntry> entries() const { return {entries_, entry_count_}; }
  std::span<const uint32_t> frames_of(const ShardEntry& e) const {
    return {frames_ + e.first_frame, e.frame_count};
  }
  bool AddBirth(const ShardBirth& birth);
  std::span<const ShardBirth> births() const { return {births_, birth_count_}; }
  // Half of it is used: somebody should come and empty it.
  bool filling() const {
    return entry_count_ > kEntries / 2 || frame_count_ > kFrames / 2 || birth_count_ > kBirths / 2;
  }
  bool empty() const { return entry_count_ == 0; }
  void Clear();
  // Empties it, and gives its memory back.
  void ReleasePages();
  size_t memory_bytes() const;

 private:
  ShardEntry* entries_ = nullptr;
  uint32_t* buckets_ = nullptr;  // entry + 1, 0 = free
  uint32_t* frames_ = nullptr;
  ShardBirth* births_ = nullptr;
  uint32_t entry_count_ = 0, frame_count_ = 0, birth_count_ = 0;
  size_t peak_entries_ = 0, peak_frames_ = 0, peak_births_ = 0;
};

// Counts of one thread; written by it alone.
struct ShardCounts {
  std::atomic<uint64_t> samples{0};
  std::atomic<uint64_t> nanoseconds{0};
  std::atomic<uint64_t> snapshots{0};        // walked by the runtime
  std::atomic<uint64_t> snapshot_failed{0};  // … which could not either
  std::atomic<uint64_t> paused{0};           // samples while tables were made anew
  std::atomic<uint64_t> full{0};             // samples that the table had no room for
  std::atomic<uint64_t> births_lost{0};
  std::atomic<uint64_t> frames{0};   // of the stacks of samples
  std::atomic<uint64_t> outside{0};  // events beside a window of time
  std::atomic<uint64_t> handle_failed{0};
  std::atomic<uint64_t> shallow{0};  // stacks near their end, that nobody walks
  std::atomic<uint64_t> selftest_equal{0}, selftest_different{0}, selftest_skipped{0};
  std::atomic<uint64_t> ends[kWalkEnds] = {};  // of the own walk, by WalkEnd
  // Stacks of resumed async methods by how their callers ended, what following them took, and those
  // that more than one waited for.
  std::atomic<uint64_t> async_ends[kAsyncEnds] = {}, async_ns{0}, async_several{0};
  // Exceptions and waits, apart from samples: how many were taken in, what that took, and lost.
  std::atomic<uint64_t> events{0}, event_ns{0}, events_lost{0};
  // … of these throws, with the frames of their stacks; and those beside a window of time.
  std::atomic<uint64_t> throws{0}, throw_ns{0}, throw_frames{0}, throws_outside{0};
  std::atomic<uint64_t> types_capped{0};  // throws of more types than are kept apart
  std::atomic<uint64_t> unended{0};       // waits whose end was not told
};

inline void Count(std::atomic<uint64_t>& c, uint64_t n = 1) {
  c.store(c.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

class Shard {
 public:
  explicit Shard(uint64_t seed) : random(seed) {}
  bool ok() const { return tables_[0].ok() && tables_[1].ok(); }

  // By the thread `owner`, around a sample. nullptr: it is in a sample already, or the shard is no
  // longer its own.
  ShardTable* Enter(uintptr_t owner) {
    // In one step: a thread that once had the shard must not take the owner's mark away.
    if (busy_.exchange(true, std::memory_order_seq_cst)) return nullptr;
    if (owner_.load(std::memory_order_seq_cst) == owner)
      return &tables_[active_.load(std::memory_order_seq_cst)];
    Leave();
    return nullptr;
  }
  void Leave() { busy_.store(false, std::memory_order_release); }

  // It is this thread's now, and was nobody's.
  void Own(uintptr_t owner) { owner_.store(owner, std::memory_order_seq_cst); }
  // By the agent's thread, when the owner has ended: from now on it is nobody's, also when another
  // thread has got the owner's identity. False: somebody is in it, and stays its owner.
  bool Disown();

  // By the agent's thread: `take(table)` gets all samples that were made before the call, and the
  // table is empty after it. False when the owner was in a sample, and stayed there for some 10 ms.
  template <class Take>
  bool Empty(Take&& take) {
    // After a flip that the owner was in the way of, or a `take` that threw, both have samples.
    for (int tables = pending_ ? 2 : 1; tables != 0; --tables) {
      ShardTable* table = Flip();
      if (table == nullptr) return false;
      take(*table);
      table->Clear();
      pending_ = false;
    }
    return true;
  }
  // By the agent's thread, while it is nobody's and empty: gives its memory back.
  void ReleasePages();

  size_t memory_bytes() const { return tables_[0].memory_bytes() + tables_[1].memory_bytes(); }

  ShardCounts counts;
  profile::Xorshift random;
  std::atomic<bool> filling{false};           // its table is half full: somebody should come by
  AtomicStackBounds stack;                    // of the owner, once the agent's thread has looked
  std::atomic<bool> stack_wanted{false};      // … which it is to do
  int64_t next_look_ns = 0;                   // of the agent's thread
  std::atomic<uint32_t> thread_id{0};         // of the owner, as the kernel counts
  uint32_t frames[kMaxDepth];                 // the walk's: the owner's stack may be at its end
  uint32_t other_frames[kMaxDepth];           // the runtime's, in a self-test
  FrameSpan spans[kMaxDepth];                 // of the walk's frames
  uintptr_t frame_words[kFrameWords];         // … of one of them
  alignas(8) std::byte window[kStackWindow];  // of a stack that cannot be read in place
  std::atomic<void*> place{nullptr};          // of the pool's table
  OpenWaits waits;                            // of the owner
  Shard* next = nullptr;                      // of the pool's list of all
  Shard* next_idle = nullptr;

 private:
  // Makes the other table current, and returns the one that was once the owner has left it; nullptr
  // when it does not. While that one is pending, no other is: the next call returns it.
  ShardTable* Flip();

  ShardTable tables_[2];
  std::atomic<uintptr_t> owner_{0};
  std::atomic<bool> busy_{false};
  std::atomic<uint32_t> active_{0};
  bool pending_ = false;  // flipped, but the table that is not current has yet to be emptied
};

}  // namespace clrscope::agent
