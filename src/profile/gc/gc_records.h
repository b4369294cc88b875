// SPDX-License-Identifier: Apache-2.0
// Collections in little room: a program collects for weeks. A record takes 1.3 KB, most of which is
// as in one before it; packed it takes a quarter, and passes that need no more than its brief, or
// its sizes, read these only.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "base/large_vector.h"
#include "profile/gc/gc_record.h"
#include "profile/gc/gc_words.h"

namespace clrscope::profile {

// One of a GcRecords, for as long as that has it: its other numbers lie there.
class PackedGc : public GcBrief {
 public:
  // The whole record, its brief as it is now.
  GcRecord Unpack() const;
  GcSizes Sizes() const;

  // Shows `see` each entry of `top_types`.
  template <class See>
  void ForEachTopType(See&& see) const {
    if (allocated_ == 0) return;
    const uint32_t* at = Allocated();
    for (uint32_t i = 0; i < words_[kTypes]; ++i, at += kAllocatedWords) see(EntryAt(at));
  }
  // Lets `change` change each entry of `top_types`, then of `top_stacks`.
  template <class Change>
  void ChangeAllocated(Change&& change) {
    if (allocated_ == 0) return;
    uint32_t* at = Allocated();
    for (uint32_t i = allocated_; i > 0; --i, at += kAllocatedWords) {
      GcAllocated entry = EntryAt(at);
      change(entry);
      std::memcpy(at, &entry, sizeof(entry));
    }
  }

 private:
  friend class GcRecords;
  // Of all of them the size; then how many of each there are, and where the base of its numbers is.
  enum Head : size_t { kSize, kHeaps, kTypes, kStacks, kBase, kHeadWords = kBase + 2 };
  using Base = GcWords<GcNumbers>::Base;
  static constexpr size_t kAllocatedWords = sizeof(GcAllocated) / sizeof(uint32_t);

  PackedGc(const GcBrief& brief, uint32_t* words)
      : GcBrief(brief), words_(words), allocated_(words[kTypes] + words[kStacks]) {}

  const Base& base() const {
    const Base* base;
    std::memcpy(&base, words_ + kBase, sizeof(base));
    return *base;
  }
  uint32_t* Allocated() const {  // they come last
    return words_ + words_[kSize] - allocated_ * kAllocatedWords;
  }
  static GcAllocated EntryAt(const uint32_t* at) {
    GcAllocated entry;
    std::memcpy(static_cast<void*>(&entry), at, sizeof(entry));
    return entry;
  }

  uint32_t* words_;
  uint32_t allocated_;  // entries of both lists: mostly there are none, and nobody need look
};

struct GcWordsDeleter {
  size_t size = 0;
  void operator()(uint32_t* words) const { LargeAllocator<uint32_t>().deallocate(words, size); }
};

// A list of them, and the memory of their numbers.
class GcRecords {
 public:
  using value_type = PackedGc;

  GcRecords() = default;
  template <class Iterator>
  GcRecords(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }
  GcRecords(std::initializer_list<GcRecord> records) : GcRecords(records.begin(), records.end()) {}
  GcRecords(const GcRecords& other) : GcRecords(other.begin(), other.end()) {}
  GcRecords(GcRecords&& other) noexcept { *this = std::move(other); }
  GcRecords& operator=(const GcRecords& other) { return *this = GcRecords(other); }
  GcRecords& operator=(GcRecords&& other) noexcept {
    list_ = std::move(other.list_);
    blocks_ = std::move(other.blocks_);
    block_words_ = std::exchange(other.block_words_, 0);
    bases_ = std::move(other.bases_);
    last_bases_ = std::exchange(other.last_bases_, {});
    return *this;
  }

  void push_back(const GcRecord& record);
  void push_back(const PackedGc& packed) { push_back(packed.Unpack()); }  // of another list
  void Append(GcRecords&& other);
  void Append(const GcRecords& other);
  // Forgets all but the last ones.
  void KeepLast(size_t count);
  void clear() { *this = {}; }

  size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  PackedGc* data() { return list_.data(); }
  const PackedGc* data() const { return list_.data(); }
  PackedGc* begin() { return data(); }
  const PackedGc* begin() const { return data(); }
  PackedGc* end() { return data() + size(); }
  const PackedGc* end() const { return data() + size(); }
  PackedGc& operator[](size_t i) { return list_[i]; }
  const PackedGc& operator[](size_t i) const { return list_[i]; }
  PackedGc& front() { return list_.front(); }
  PackedGc& back() { return list_.back(); }

  template <class Gone>
  friend size_t erase_if(GcRecords& records, Gone&& gone) {
    GcRecords kept;
    for (const PackedGc& gc : records)
      if (!gone(gc)) kept.push_back(gc);
    const size_t erased = records.size() - kept.size();
    records = std::move(kept);
    return erased;
  }

 private:
  struct Block {
    std::unique_ptr<uint32_t[], GcWordsDeleter> words;
    size_t size = 0, used = 0;
  };

  // Room for so many words in a block's end; null where there is not as much.
  uint32_t* RoomFor(size_t words);
  void AddBlock(size_t at_least);
  const PackedGc::Base& BaseFor(const GcRecord& record);
  // Notes what was written there.
  void Take(const GcBrief& brief, uint32_t* words);
  void Add(const GcBrief& brief, uint32_t* words);

  LargeVector<PackedGc> list_;
  std::vector<Block> blocks_;  // the list points into them
  size_t block_words_ = 0;     // of all of them
  // What numbers are packed as differences from: some records of this list, as it began and from
  // time to time since, of each generation.
  std::vector<std::unique_ptr<const PackedGc::Base>> bases_;
  struct LastBase {
    const PackedGc::Base* base = nullptr;
    uint32_t used = 0;
  };
  std::array<LastBase, 4> last_bases_;  // by generation; the last one: of any other
};

}  // namespace clrscope::profile
