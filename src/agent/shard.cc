// SPDX-License-Identifier: Apache-2.0
#include "agent/shard.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "agent/lazy_memory.h"

namespace clrscope::agent {
namespace {

uint64_t Mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

thread_local Shard* t_shard = nullptr;  // no destructor: costs no check whether it was registered

// Gives a thread's shard back when the thread ends.
struct Owner {
  Shard* shard = nullptr;
  bool ended = false;
  ~Owner() {
    ended = true;
    if (shard != nullptr) shard->owned.store(false, std::memory_order_release);
    shard = t_shard = nullptr;
  }
};
thread_local Owner t_owner;

}  // namespace

ShardTable::ShardTable()
    : entries_(LazyArray<ShardEntry>(kEntries)),
      buckets_(LazyArray<uint32_t>(kBuckets)),
      frames_(LazyArray<uint32_t>(kFrames)),
      births_(LazyArray<ShardBirth>(kBirths)) {}

ShardTable::~ShardTable() {
  FreeLazy(entries_, kEntries);
  FreeLazy(buckets_, kBuckets);
  FreeLazy(frames_, kFrames);
  FreeLazy(births_, kBirths);
}

uint32_t ShardTable::Fold(std::span<const uint32_t> frames, uint64_t type, profile::HeapKind kind) {
  uint64_t hash = Mix(type, static_cast<uint64_t>(kind));
  for (const uint32_t f : frames) hash = Mix(hash, f);
  size_t bucket = hash & (kBuckets - 1);
  for (;; bucket = (bucket + 1) & (kBuckets - 1)) {
    const uint32_t there = buckets_[bucket];
    if (there == 0) break;
    const ShardEntry& e = entries_[there - 1];
    if (e.hash == hash && e.type == type && e.kind == kind && e.frame_count == frames.size() &&
        (frames.empty() ||
         std::memcmp(frames_ + e.first_frame, frames.data(), frames.size_bytes()) == 0))
      return there - 1;
  }
  if (entry_count_ == kEntries || frames.size() > kFrames - frame_count_) return kNone;
  ShardEntry& e = entries_[entry_count_];
  e = ShardEntry{};
  e.hash = hash;
  e.type = type;
  e.kind = kind;
  e.first_frame = frame_count_;
  e.frame_count = static_cast<uint32_t>(frames.size());
  std::copy(frames.begin(), frames.end(), frames_ + frame_count_);
  frame_count_ += e.frame_count;
  buckets_[bucket] = ++entry_count_;
  return entry_count_ - 1;
}

bool ShardTable::AddBirth(const ShardBirth& birth) {
  if (birth_count_ == kBirths) return false;
  births_[birth_count_++] = birth;
  return true;
}

void ShardTable::Clear() {
  peak_entries_ = std::max<size_t>(peak_entries_, entry_count_);
  peak_frames_ = std::max<size_t>(peak_frames_, frame_count_);
  peak_births_ = std::max<size_t>(peak_births_, birth_count_);
  // Few entries: clear their buckets; else the pages.
  if (entry_count_ < kBuckets / 64) {
    for (uint32_t i = 0; i < entry_count_; ++i) {
      size_t bucket = entries_[i].hash & (kBuckets - 1);
      while (buckets_[bucket] != 0) {
        buckets_[bucket] = 0;
        bucket = (bucket + 1) & (kBuckets - 1);
      }
    }
  } else {
    std::memset(buckets_, 0, kBuckets * sizeof *buckets_);
  }
  if (frame_count_ > kFrames / 2) {
    ZeroLazy(frames_, kFrames);
    peak_frames_ = 0;
  }
  entry_count_ = frame_count_ = birth_count_ = 0;
}

size_t ShardTable::memory_bytes() const {
  const auto pages = [](size_t bytes) { return (bytes + 4095) / 4096 * 4096; };
  return pages(std::max<size_t>(peak_entries_, entry_count_) * sizeof(ShardEntry)) +
         (peak_entries_ + entry_count_ == 0 ? 0 : kBuckets * sizeof(uint32_t)) +
         pages(std::max<size_t>(peak_frames_, frame_count_) * sizeof(uint32_t)) +
         pages(std::max<size_t>(peak_births_, birth_count_) * sizeof(ShardBirth));
}

ShardTable* Shard::Flip() {
  if (!pending_)
    active_.store(active_.load(std::memory_order_relaxed) ^ 1, std::memory_order_seq_cst);
  // The owner either sees the new index, or is seen to be busy with the old one.
  for (int i = 0; busy_.load(std::memory_order_seq_cst); ++i) {
    if (i == 1000) {
      pending_ = true;
      return nullptr;
    }
    if (i < 50) {
      ::sched_yield();
    } else {
      const timespec pause{0, 10'000};
      ::nanosleep(&pause, nullptr);
    }
  }
  pending_ = false;
  return &tables_[active_.load(std::memory_order_relaxed) ^ 1];
}

ShardPool& ShardPool::Get() {
  alignas(ShardPool) static unsigned char storage[sizeof(ShardPool)];
  static ShardPool* pool = new (storage) ShardPool;  // never destroyed: threads outlive exit()
  return *pool;
}

Shard* ShardPool::Mine() {
  if (t_shard != nullptr) return t_shard;
  Owner& owner = t_owner;
  if (owner.ended) return nullptr;
  owner.shard = Get().Take();
  return t_shard = owner.shard;
}

Shard* ShardPool::Take() {
  for (Shard* s = head_.load(std::memory_order_acquire); s != nullptr; s = s->next) {
    bool free = false;
    if (!s->owned.load(std::memory_order_relaxed) && s->owned.compare_exchange_strong(free, true)) {
      s->stack_top = 0;
      return s;
    }
  }
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  auto* s = new (std::nothrow) Shard(static_cast<uint64_t>(now.tv_nsec) * 0x9E3779B97F4A7C15u ^
                                     static_cast<uint64_t>(now.tv_sec));
  if (s == nullptr || !s->ok()) {
    delete s;
    return nullptr;
  }
  s->owned.store(true, std::memory_order_relaxed);
  s->next = head_.load(std::memory_order_relaxed);
  while (!head_.compare_exchange_weak(s->next, s, std::memory_order_release)) {
  }
  return s;
}

}  // namespace clrscope::agent
