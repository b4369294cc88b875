// SPDX-License-Identifier: Apache-2.0
// A struct of 64-bit numbers in little room: four at a time, as their differences from those of a
// like one. These are mostly nothing, or small.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace clrscope::profile {

template <class T>
class GcWords {
  static_assert(std::has_unique_object_representations_v<T>, "padding has no value");
  static_assert(sizeof(T) % sizeof(uint64_t) == 0);
  static constexpr size_t kNumbers = sizeof(T) / sizeof(uint64_t);
  static constexpr size_t kGroup = 4;
  static constexpr size_t kGroups = (kNumbers + kGroup - 1) / kGroup;
  static_assert(kGroups <= 32, "one number tells the forms of all, two bits each");
  static constexpr size_t kForms = 2;

 public:
  // Words that a T needs at most.
  static constexpr size_t kRoom = kForms + 2 * kGroup * kGroups;

  // What both are given as `base`; it outlives the words.
  struct Base {
    explicit Base(const T& value) { std::memcpy(bytes.data(), &value, sizeof(T)); }
    std::array<std::byte, kGroups * kGroup * sizeof(uint64_t)> bytes{};
  };

  // Returns where the words end.
  static uint32_t* Pack(const T& value, const Base& base, uint32_t* to) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    const std::byte* like = base.bytes.data();
    uint32_t* const begin = to;
    to += kForms;
    uint64_t forms = 0;
    for (size_t i = 0; i < kWholeGroups; ++i)
      forms |= PackGroup(from + i * kGroupBytes, like + i * kGroupBytes, &to) << 2 * i;
    if constexpr (kWholeGroups < kGroups) {
      GroupBytes last{};
      std::memcpy(last.data(), from + kWholeGroups * kGroupBytes, sizeof(T) % kGroupBytes);
      forms |= PackGroup(last.data(), like + kWholeGroups * kGroupBytes, &to) << 2 * kWholeGroups;
    }
    std::memcpy(begin, &forms, sizeof(forms));
    return to;
  }

  // The first numbers of a T that was packed to `from`: all of them, or those of its first base.
  // Returns where the words of these end.
  template <class First>
  static const uint32_t* Unpack(const uint32_t* from, const Base& base, First& value) {
    static_assert(sizeof(First) <= sizeof(T) && sizeof(First) % sizeof(uint64_t) == 0);
    constexpr size_t kWanted = sizeof(First) / kGroupBytes, kRest = sizeof(First) % kGroupBytes;
    auto* const to = reinterpret_cast<std::byte*>(&value);
    const std::byte* like = base.bytes.data();
    uint64_t forms;
    std::memcpy(&forms, from, sizeof(forms));
    from += kForms;
    for (size_t i = 0; i < kWanted; ++i, forms >>= 2)
      from = UnpackGroup(from, like + i * kGroupBytes, forms & 3, to + i * kGroupBytes);
    if constexpr (kRest != 0) {
      GroupBytes last;
      from = UnpackGroup(from, like + kWanted * kGroupBytes, forms & 3, last.data());
      std::memcpy(to + kWanted * kGroupBytes, last.data(), kRest);
    }
    return from;
  }

 private:
  enum Form : uint64_t { kNothing, kQuarters, kHalves, kWhole };
  typedef uint64_t Pair __attribute__((vector_size(16)));  // every processor has these
  static constexpr size_t kGroupBytes = kGroup * sizeof(uint64_t);
  static constexpr size_t kWholeGroups = kNumbers / kGroup;
  using GroupBytes = std::array<std::byte, kGroupBytes>;

  template <class At>
  static Pair Load(const At* at) {
    Pair pair;
    std::memcpy(&pair, at, sizeof(pair));
    return pair;
  }
  template <class At>
  static void Store(const Pair& pair, At* at) {
    std::memcpy(at, &pair, sizeof(pair));
  }
  // A difference below zero is small, too: 0, -1, 1, -2 … become 0, 1, 2, 3 …
  static Pair Folded(const Pair& pair) { return pair << 1 ^ (Pair{} - (pair >> 63)); }
  static Pair Unfolded(const Pair& pair) { return pair >> 1 ^ (Pair{} - (pair & 1)); }

  [[gnu::always_inline]] static uint64_t PackGroup(const std::byte* from, const std::byte* like,
                                                   uint32_t** to) {
    const Pair one = Folded(Load(from) - Load(like));
    const Pair two = Folded(Load(from + 16) - Load(like + 16));
    const Pair both = one | two;
    const uint64_t any = both[0] | both[1];
    if (any == 0) return kNothing;
    if (any >> 16 == 0) {
      const Pair quarters = one | two << 16;
      (*to)[0] = static_cast<uint32_t>(quarters[0]);
      (*to)[1] = static_cast<uint32_t>(quarters[1]);
      *to += kGroup / 2;
      return kQuarters;
    }
    if (any >> 32 == 0) {
      Store(one | two << 32, *to);  // the second's in the upper halves
      *to += kGroup;
      return kHalves;
    }
    Store(one, *to);
    Store(two, *to + kGroup);
    *to += 2 * kGroup;
    return kWhole;
  }
  [[gnu::always_inline]] static const uint32_t* UnpackGroup(const uint32_t* from,
                                                            const std::byte* like, uint64_t form,
                                                            std::byte* to) {
    Pair one = {}, two = {};
    if (form == kQuarters) {
      const Pair quarters = {from[0], from[1]};
      one = quarters & 0xFFFF;
      two = quarters >> 16;
      from += kGroup / 2;
    } else if (form == kHalves) {
      const Pair halves = Load(from);
      one = halves & 0xFFFFFFFF;
      two = halves >> 32;
      from += kGroup;
    } else if (form == kWhole) {
      one = Load(from);
      two = Load(from + kGroup);
      from += 2 * kGroup;
    }
    Store(Load(like) + Unfolded(one), to);
    Store(Load(like + 16) + Unfolded(two), to + 16);
    return from;
  }
};

}  // namespace clrscope::profile
