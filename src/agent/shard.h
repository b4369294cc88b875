// SPDX-License-Identifier: Apache-2.0
// What one thread of the program has sampled since the agent's thread last came by: folded by
// (stack, type, kind), and the objects to follow. The owner writes one of two tables without a
// lock; the agent's thread makes the other one current and empties the first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "agent/stack_walk.h"
#include "profile/estimate.h"
#include "profile/reservoir.h"

namespace clrscope::agent {

struct ShardEntry {
  uint64_t hash = 0;
  uint64_t type = 0;  // ClassID
  uint32_t first_frame = 0, frame_count = 0;
  profile::HeapKind kind = profile::HeapKind::kSoh;
  profile::Estimate value;
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

  // The entry of this stack and type; kNone when the table is full.
  static constexpr uint32_t kNone = ~0u;
  uint32_t Fold(std::span<const uint32_t> frames, uint64_t type, profile::HeapKind kind);
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
  std::atomic<uint64_t> handle_failed{0};
  std::atomic<uint64_t> selftest_equal{0}, selftest_different{0}, selftest_skipped{0};
  std::atomic<uint64_t> ends[kWalkEnds] = {};  // of the own walk, by WalkEnd
};

inline void Count(std::atomic<uint64_t>& c, uint64_t n = 1) {
  c.store(c.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

class Shard {
 public:
  explicit Shard(uint64_t seed) : random(seed) {}
  bool ok() const { return tables_[0].ok() && tables_[1].ok(); }

  // By the owner, around a sample. nullptr: it is in a sample already.
  ShardTable* Enter() {
    if (busy_.load(std::memory_order_relaxed)) return nullptr;
    busy_.store(true, std::memory_order_seq_cst);
    return &tables_[active_.load(std::memory_order_seq_cst)];
  }
  void Leave() { busy_.store(false, std::memory_order_release); }

  // By the agent's thread: makes the other table (which must be empty) current, and returns the one
  // that was once its owner has left it; nullptr when it did not within some 10 ms.
  ShardTable* Flip();

  // By the agent's thread: a hint.
  bool filling() const { return tables_[active_.load(std::memory_order_relaxed)].filling(); }
  size_t memory_bytes() const { return tables_[0].memory_bytes() + tables_[1].memory_bytes(); }

  ShardCounts counts;
  profile::Xorshift random;
  uintptr_t stack_top = 0;
  std::atomic<bool> owned{false};
  Shard* next = nullptr;  // of the pool's list

 private:
  ShardTable tables_[2];
  std::atomic<bool> busy_{false};
  std::atomic<uint32_t> active_{0};
  bool pending_ = false;  // flipped, but the owner was still in it
};

// The shards of all threads. A thread takes one at its first sample and gives it back when it ends;
// none is ever freed, so that their number is that of the threads that allocated at one time.
// Outlives the agent's instances.
class ShardPool {
 public:
  static ShardPool& Get();
  // The calling thread's; nullptr when there is no memory, or the thread is ending.
  static Shard* Mine();
  template <class F>
  void ForEach(F&& f) {
    for (Shard* s = head_.load(std::memory_order_acquire); s != nullptr; s = s->next) f(*s);
  }

 private:
  Shard* Take();
  std::atomic<Shard*> head_{nullptr};
};

}  // namespace clrscope::agent
