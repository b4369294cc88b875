// SPDX-License-Identifier: Apache-2.0
#include "profile/gc/gc_records.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "profile/gc/gc_words.h"

namespace clrscope::profile {
namespace {

static_assert(std::has_unique_object_representations_v<GcAllocated>);

uint32_t* PackAllocated(const std::vector<GcAllocated>& list, uint32_t* to) {
  if (list.empty()) return to;
  std::memcpy(to, list.data(), list.size() * sizeof(GcAllocated));
  return to + list.size() * (sizeof(GcAllocated) / sizeof(uint32_t));
}

// A few records take a few KB; from thousands on they lie on huge pages, of which what is not used
// costs nothing.
constexpr size_t kSmallBlock = 512, kLargeBlock = LargeAllocator<uint32_t>::kHugePage / 4;  // words
constexpr size_t kManyWords = kLargeBlock / 4;
constexpr size_t kManyRecords = 2048, kRoomOfMany = 1 << 18;

const GcWords<GcHeap>::Base& NewHeap() {
  static const GcWords<GcHeap>::Base kNew{GcHeap()};
  return kNew;
}

}  // namespace

GcRecord PackedGc::Unpack() const {
  GcRecord r;
  static_cast<GcBrief&>(r) = *this;
  const uint32_t* from = words_ + kHeadWords;
  from = GcWords<GcNumbers>::Unpack(from, base(), static_cast<GcNumbers&>(r));
  r.heaps.resize(words_[kHeaps]);
  for (GcHeap& heap : r.heaps) from = GcWords<GcHeap>::Unpack(from, NewHeap(), heap);
  const auto read = [&](std::vector<GcAllocated>& list, uint32_t count) {
    list.reserve(count);
    for (; count > 0; --count, from += kAllocatedWords) list.push_back(EntryAt(from));
  };
  read(r.top_types, words_[kTypes]);
  read(r.top_stacks, words_[kStacks]);
  return r;
}

GcSizes PackedGc::Sizes() const {
  GcSizes sizes;
  GcWords<GcNumbers>::Unpack(words_ + kHeadWords, base(), sizes);
  return sizes;
}

void GcRecords::push_back(const GcRecord& r) {
  const size_t room = PackedGc::kHeadWords + GcWords<GcNumbers>::kRoom +
                      r.heaps.size() * GcWords<GcHeap>::kRoom +
                      (r.top_types.size() + r.top_stacks.size()) * PackedGc::kAllocatedWords;
  const PackedGc::Base* const base = &BaseFor(r);
  const auto pack = [&r, base](uint32_t* begin) {
    std::memcpy(begin + PackedGc::kBase, &base, sizeof(base));
    uint32_t* to = GcWords<GcNumbers>::Pack(r, *base, begin + PackedGc::kHeadWords);
    for (const GcHeap& heap : r.heaps) to = GcWords<GcHeap>::Pack(heap, NewHeap(), to);
    to = PackAllocated(r.top_types, to);
    to = PackAllocated(r.top_stacks, to);
    begin[PackedGc::kSize] = static_cast<uint32_t>(to - begin);
    begin[PackedGc::kHeaps] = static_cast<uint32_t>(r.heaps.size());
    begin[PackedGc::kTypes] = static_cast<uint32_t>(r.top_types.size());
    begin[PackedGc::kStacks] = static_cast<uint32_t>(r.top_stacks.size());
  };
  if (uint32_t* const begin = RoomFor(room)) {
    pack(begin);
    return Take(r, begin);
  }
  // Near a block's end: it may be smaller than it could be.
  std::vector<uint32_t> words(room);
  pack(words.data());
  const size_t size = words[PackedGc::kSize];
  if (RoomFor(size) == nullptr) AddBlock(size);
  uint32_t* const to = RoomFor(size);
  std::memcpy(to, words.data(), size * sizeof(uint32_t));
  Take(r, to);
}

const PackedGc::Base& GcRecords::BaseFor(const GcRecord& r) {
  // A base takes as much as some records: few get none of their own.
  constexpr size_t kFew = 64;
  constexpr uint32_t kUses = 512;
  static const PackedGc::Base kNew{GcNumbers()};
  if (size() < kFew) return kNew;
  const auto generation = static_cast<size_t>(r.generation);
  LastBase& last = last_bases_[std::min(generation, last_bases_.size() - 1)];
  if (last.base == nullptr || last.used == kUses) {
    last.base = bases_.emplace_back(std::make_unique<const PackedGc::Base>(r)).get();
    last.used = 0;
  }
  ++last.used;
  return *last.base;
}

void GcRecords::Append(GcRecords&& other) {
  if (empty()) {
    *this = std::move(other);
  } else {
    for (const PackedGc& gc : other) Add(gc, gc.words_);
    blocks_.insert(blocks_.begin(), std::make_move_iterator(other.blocks_.begin()),
                   std::make_move_iterator(other.blocks_.end()));
    block_words_ += other.block_words_;
    std::move(other.bases_.begin(), other.bases_.end(), std::back_inserter(bases_));
  }
  other = {};
}

void GcRecords::Append(const GcRecords& other) {
  for (const PackedGc& gc : other) push_back(gc);
}

void GcRecords::KeepLast(size_t count) {
  if (count < size()) *this = GcRecords(end() - static_cast<std::ptrdiff_t>(count), end());
}

uint32_t* GcRecords::RoomFor(size_t words) {
  if (blocks_.empty() || blocks_.back().size - blocks_.back().used < words) return nullptr;
  return blocks_.back().words.get() + blocks_.back().used;
}

void GcRecords::AddBlock(size_t at_least) {
  const size_t usual =
      block_words_ >= kManyWords ? kLargeBlock : std::clamp(block_words_, kSmallBlock, kManyWords);
  const size_t size = std::max(usual, at_least);
  Block& block = blocks_.emplace_back();
  block.words = {LargeAllocator<uint32_t>().allocate(size), GcWordsDeleter{size}};
  block.size = size;
  block_words_ += block.size;
}

void GcRecords::Take(const GcBrief& brief, uint32_t* words) {
  blocks_.back().used += words[PackedGc::kSize];
  Add(brief, words);
}

void GcRecords::Add(const GcBrief& brief, uint32_t* words) {
  if (size() == list_.capacity() && size() >= kManyRecords)
    list_.reserve(std::max(kRoomOfMany, size() * 2));
  list_.push_back(PackedGc(brief, words));
}

}  // namespace clrscope::profile
