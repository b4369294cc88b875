// SPDX-License-Identifier: Apache-2.0
#include "profile/gc_records.h"

#include <bit>
#include <cstring>
#include <type_traits>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace clrscope::profile {
namespace {

// What `kWords` words at `from` are apart from `fresh`, bit by bit; returns which of them are, from
// the lowest bit on.
template <size_t kWords>
uint32_t Compare(const std::byte* from, const uint32_t* fresh, uint32_t* apart) {
  static_assert(kWords <= 32);
  uint32_t bits = 0;
  size_t i = 0;
#ifdef __SSE2__
  const __m128i zero = _mm_setzero_si128();
  for (; i + 4 <= kWords; i += 4) {
    const __m128i four = _mm_xor_si128(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * sizeof(uint32_t))),
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(fresh + i)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(apart + i), four);
    const int same = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(four, zero)));
    bits |= static_cast<uint32_t>(same ^ 0xF) << i;
  }
#endif
  for (; i < kWords; ++i) {
    std::memcpy(apart + i, from + i * sizeof(uint32_t), sizeof(uint32_t));
    apart[i] ^= fresh[i];
    bits |= (apart[i] != 0 ? 1u : 0u) << i;
  }
  return bits;
}

// A struct as its words that differ from those of a new one: a bit for each of them, then those
// that have one.
template <class T>
struct Words {
  static_assert(std::has_unique_object_representations_v<T>, "padding has no value");
  static constexpr size_t kCount = sizeof(T) / sizeof(uint32_t);
  static constexpr size_t kMaskWords = (kCount + 31) / 32;
  static constexpr size_t kMost = kMaskWords + kCount;
  using Image = std::array<uint32_t, kCount>;

  static const Image& Fresh() {
    static const auto kFresh = std::bit_cast<Image>(T());
    return kFresh;
  }

  // Returns where the words end.
  static uint32_t* Pack(const T& value, uint32_t* to) {
    const uint32_t* fresh = Fresh().data();
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    uint32_t* mask = to;
    to += kMaskWords;
    uint32_t apart[32];
    const auto add = [&](uint32_t changed) {
      *mask++ = changed;
      for (uint32_t bits = changed; bits != 0; bits &= bits - 1)
        *to++ = apart[std::countr_zero(bits)];
    };
    size_t first = 0;
    for (; first + 32 <= kCount; first += 32)
      add(Compare<32>(from + first * sizeof(uint32_t), fresh + first, apart));
    if constexpr (kCount % 32 != 0)
      add(Compare<kCount % 32>(from + first * sizeof(uint32_t), fresh + first, apart));
    return to;
  }

  // `value` must be a new one.
  static const uint32_t* Unpack(const uint32_t* from, T& value) {
    const Image& fresh = Fresh();
    auto* to = reinterpret_cast<std::byte*>(&value);
    const uint32_t* mask = from;
    from += kMaskWords;
    for (size_t first = 0; first < kCount; first += 32)
      for (uint32_t bits = *mask++; bits != 0; bits &= bits - 1) {
        const size_t i = first + static_cast<size_t>(std::countr_zero(bits));
        const uint32_t word = *from++ ^ fresh[i];
        std::memcpy(to + i * sizeof(word), &word, sizeof(word));
      }
    return from;
  }
};

constexpr size_t kAllocatedWords = sizeof(GcAllocated) / sizeof(uint32_t);
static_assert(std::has_unique_object_representations_v<GcAllocated>);

uint32_t* PackAllocated(const std::vector<GcAllocated>& list, uint32_t* to) {
  if (!list.empty()) std::memcpy(to, list.data(), list.size() * sizeof(GcAllocated));
  return to + list.size() * kAllocatedWords;
}
const uint32_t* UnpackAllocated(const uint32_t* from, std::vector<GcAllocated>& list) {
  if (!list.empty())
    std::memcpy(static_cast<void*>(list.data()), from, list.size() * sizeof(GcAllocated));
  return from + list.size() * kAllocatedWords;
}

}  // namespace

PackedGc::PackedGc(const GcRecord& r) : GcBrief(r) {
  const size_t most = kHeadWords + Words<GcNumbers>::kMost + r.heaps.size() * Words<GcHeap>::kMost +
                      (r.top_types.size() + r.top_stacks.size()) * kAllocatedWords;
  constexpr size_t kMostly = 1024;
  uint32_t small[kMostly];
  std::vector<uint32_t> large(most > kMostly ? most : 0);
  uint32_t* const begin = large.empty() ? small : large.data();
  uint32_t* to = Words<GcNumbers>::Pack(r, begin + kHeadWords);
  for (const GcHeap& heap : r.heaps) to = Words<GcHeap>::Pack(heap, to);
  to = PackAllocated(r.top_types, to);
  to = PackAllocated(r.top_stacks, to);
  const auto count = static_cast<size_t>(to - begin);
  begin[kSize] = static_cast<uint32_t>(count);
  begin[kHeaps] = static_cast<uint32_t>(r.heaps.size());
  begin[kTypes] = static_cast<uint32_t>(r.top_types.size());
  begin[kStacks] = static_cast<uint32_t>(r.top_stacks.size());
  words_.reset(new uint32_t[count]);
  std::memcpy(words_.get(), begin, count * sizeof(uint32_t));
}

PackedGc::PackedGc(const PackedGc& other)
    : GcBrief(other), words_(new uint32_t[other.words_[kSize]]) {
  std::memcpy(words_.get(), other.words_.get(), other.words_[kSize] * sizeof(uint32_t));
}

PackedGc& PackedGc::operator=(const PackedGc& other) { return *this = PackedGc(other); }

GcRecord PackedGc::Unpack() const {
  GcRecord r;
  static_cast<GcBrief&>(r) = *this;
  r.heaps.resize(words_[kHeaps]);
  r.top_types.resize(words_[kTypes]);
  r.top_stacks.resize(words_[kStacks]);
  const uint32_t* from = Words<GcNumbers>::Unpack(words_.get() + kHeadWords, r);
  for (GcHeap& heap : r.heaps) from = Words<GcHeap>::Unpack(from, heap);
  UnpackAllocated(UnpackAllocated(from, r.top_types), r.top_stacks);
  return r;
}

}  // namespace clrscope::profile
