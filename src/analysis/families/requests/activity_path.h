// SPDX-License-Identifier: Apache-2.0
// The path in an EventSource's activity id: which activity began within which. Its first 12 bytes
// are a list of numbers (the app domain, then one for each activity from the outermost one on), of
// which a child's id has all of its parent's, and then its own.
// Source: dotnet/runtime src/libraries/System.Private.CoreLib
// src/System/Diagnostics/Tracing/ActivityTracker.cs (AddIdToGuid, CreateOverflowGuid, WriteNibble).
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/mix_bits.h"
#include "clr/raw_event.h"

namespace clrscope::analysis {

// The list as it lies in the id, cut after its last whole element, the rest zero: equal lists are
// equal bit by bit. Ids that are no such lists (a program may set any) give some path or none.
//
// An element in nibbles, the high one of a byte first:
//   1..A             is the number.
//   C, D, E, F       1, 2, 3, 4 bytes follow, low byte first, from the next byte on. Where the code
//                    is a high nibble, the low one is 0; of a number in 256..4095 it is its bits
//                    from 8 on, the code is C, and two bytes follow all the same, the second zero.
//   B and a code     an activity that did not fit: its ancestor's list and a number of its own.
//                    Its children are no longer below it, but beside it.
//   0                ends the list.
class ActivityPath {
 public:
  static constexpr size_t kMostElements = 24;

  constexpr ActivityPath() = default;

  static ActivityPath Of(const clr::ActivityId& id) {
    const auto nibble = [&id](unsigned i) {
      return static_cast<unsigned>(id[i / 2]) >> (i % 2 == 0 ? 4 : 0) & 0xF;
    };
    constexpr unsigned kEnd = kMostElements, kLastNumber = 0xA, kPrefix = 0xB, kCode = 0xC;
    uint32_t ends = 0;
    unsigned at = 0;
    while (at < kEnd) {
      unsigned code_at = at, code = nibble(at);
      if (code == 0) break;
      if (code <= kLastNumber) {
        ends |= uint32_t{1} << at++;
        continue;
      }
      if (code == kPrefix) {
        if (++code_at == kEnd || (code = nibble(code_at)) < kCode) break;
      }
      unsigned bytes = code - kCode + 1;
      if (code_at % 2 == 0 && nibble(code_at + 1) != 0) {
        if (code != kCode) break;
        bytes = 2;
      }
      const unsigned end = (code_at / 2 + 1 + bytes) * 2;
      if (end > kEnd) break;
      ends |= uint32_t{1} << (end - 1);
      at = end;
    }
    uint64_t high = 0;
    uint32_t low = 0;
    for (size_t i = 0; i < 8; ++i) high = high << 8 | static_cast<uint64_t>(id[i]);
    for (size_t i = 8; i < 12; ++i) low = low << 8 | static_cast<uint32_t>(id[i]);
    return ActivityPath(high, low, ends);
  }

  // Of an event's activity; null = it has none.
  static ActivityPath Of(const clr::ActivityId* id) {
    return id == nullptr ? ActivityPath() : Of(*id);
  }

  // Elements; 0 for no activity.
  size_t size() const { return static_cast<size_t>(std::popcount(ends_)); }
  bool empty() const { return ends_ == 0; }

  // The first `n` elements, or all of them.
  ActivityPath Prefix(size_t n) const {
    if (n >= size()) return *this;
    uint32_t rest = ends_;
    for (size_t i = 0; i < n; ++i) rest &= rest - 1;
    return ActivityPath(high_, low_, ends_ ^ rest);
  }
  // Without the last element: what an activity began within. Of an empty path, empty.
  ActivityPath Parent() const {
    return empty() ? *this : ActivityPath(high_, low_, ends_ ^ std::bit_floor(ends_));
  }
  // True for equal paths, too.
  bool IsPrefixOf(const ActivityPath& other) const { return other.Prefix(size()) == *this; }

  // Of the list's bits alone: they say where its elements end.
  friend bool operator==(const ActivityPath& a, const ActivityPath& b) {
    return a.high_ == b.high_ && a.low_ == b.low_;
  }
  friend std::strong_ordering operator<=>(const ActivityPath& a, const ActivityPath& b) {
    const auto order = a.high_ <=> b.high_;
    return order != 0 ? order : a.low_ <=> b.low_;
  }
  uint64_t Hash() const { return MixBits(high_ ^ MixBits(low_)); }
  struct Hasher {
    size_t operator()(const ActivityPath& p) const { return static_cast<size_t>(p.Hash()); }
  };

 private:
  // Cuts the list after the last of `ends`.
  constexpr ActivityPath(uint64_t high, uint32_t low, uint32_t ends) : ends_(ends) {
    const auto nibbles = static_cast<unsigned>(std::bit_width(ends));
    high_ = nibbles == 0 ? 0 : high & ~uint64_t{0} << (nibbles >= 16 ? 0 : 64 - 4 * nibbles);
    low_ = nibbles <= 16 ? 0 : low & ~uint32_t{0} << (96 - 4 * nibbles);
  }

  uint64_t high_ = 0;  // the first eight bytes; the first one is the highest
  uint32_t low_ = 0;   // the next four
  uint32_t ends_ = 0;  // bit i: an element ends with nibble i
};

// Whether the runtime made `id` as a path in the process `pid` (as the process sees it): the last
// four bytes are a checksum. A program may set any id of its own (SetCurrentThreadActivityId).
inline bool IsPathOfProcess(const clr::ActivityId& id, uint32_t pid) {
  uint32_t words[4];
  std::memcpy(words, id.data(), sizeof(words));
  return words[3] == ((words[0] + words[1] + words[2] + 0x599D99ADu) ^ pid);
}

}  // namespace clrscope::analysis
