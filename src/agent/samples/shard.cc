// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/shard.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "agent/samples/lazy_memory.h"

namespace clrscope::agent {
namespace {

uint64_t Mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

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

uint32_t ShardTable::Fold(std::span<const uint32_t> frames, const ShardKey& key) {
  uint64_t hash =
      Mix(key.type, static_cast<uint64_t>(key.kind) | static_cast<uint64_t>(key.event) << 4 |
                        uint64_t{key.epoch} << 8);
  hash = Mix(hash, key.owner << 32 | key.thread);
  if (key.window != 0) hash = Mix(hash, key.window);
  for (const uint32_t f : frames) hash = Mix(hash, f);
  size_t bucket = hash & (kBuckets - 1);
  for (;; bucket = (bucket + 1) & (kBuckets - 1)) {
    const uint32_t there = buckets_[bucket];
    if (there == 0) break;
    const ShardEntry& e = entries_[there - 1];
    if (e.hash == hash && static_cast<const ShardKey&>(e) == key &&
        e.frame_count == frames.size() &&
        (frames.empty() ||
         std::memcmp(frames_ + e.first_frame, frames.data(), frames.size_bytes()) == 0))
      return there - 1;
  }
  if (entry_count_ == kEntries || frames.size() > kFrames - frame_count_) return kNone;
  ShardEntry& e = entries_[entry_count_];
  e = ShardEntry{};
  static_cast<ShardKey&>(e) = key;
  e.hash = hash;
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

void ShardTable::ReleasePages() {
  ZeroLazy(entries_, kEntries);
  ZeroLazy(buckets_, kBuckets);
  ZeroLazy(frames_, kFrames);
  ZeroLazy(births_, kBirths);
  entry_count_ = frame_count_ = birth_count_ = 0;
  peak_entries_ = peak_frames_ = peak_births_ = 0;
}

// Of what it held at its fullest, up to the last Clear(): its owner may be writing.
size_t ShardTable::memory_bytes() const {
  const auto pages = [](size_t bytes) { return (bytes + 4095) / 4096 * 4096; };
  return pages(peak_entries_ * sizeof(ShardEntry)) +
         (peak_entries_ == 0 ? 0 : kBuckets * sizeof(uint32_t)) +
         pages(peak_frames_ * sizeof(uint32_t)) + pages(peak_births_ * sizeof(ShardBirth));
}

ShardTable* Shard::Flip() {
  if (!pending_)
    active_.store(active_.load(std::memory_order_relaxed) ^ 1, std::memory_order_seq_cst);
  pending_ = true;
  // The owner either sees the new index, or is seen to be busy with the old one.
  for (int i = 0; busy_.load(std::memory_order_seq_cst); ++i) {
    if (i == 1000) return nullptr;
    if (i < 50) {
      ::sched_yield();
    } else {
      const timespec pause{0, 10'000};
      ::nanosleep(&pause, nullptr);
    }
  }
  return &tables_[active_.load(std::memory_order_relaxed) ^ 1];
}

void Shard::ReleasePages() {
  for (ShardTable& t : tables_) t.ReleasePages();
  filling.store(false, std::memory_order_relaxed);
}

bool Shard::Disown() {
  const uintptr_t owner = owner_.exchange(0, std::memory_order_seq_cst);
  // Whoever comes now sees that it is not theirs.
  if (!busy_.load(std::memory_order_seq_cst)) return true;
  owner_.store(owner, std::memory_order_seq_cst);
  return false;
}

}  // namespace clrscope::agent
