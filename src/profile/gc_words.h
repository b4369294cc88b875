// SPDX-License-Identifier: Apache-2.0
// A struct of 64-bit numbers in little room: two at a time, as what they are more than those of a
// new one. That is mostly nothing, or small: an unknown figure is -1, and few need their upper
// half.
#pragma once

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
  static constexpr size_t kPairs = (kNumbers + 1) / 2;
  static constexpr size_t kTogether = 16;  // pairs that one word tells of, two bits each
  static constexpr size_t kForms = (kPairs + kTogether - 1) / kTogether;

 public:
  // Words that a T needs at most.
  static constexpr size_t kRoom = kForms + 4 * kPairs;

  // Returns where the words end.
  static uint32_t* Pack(const T& value, uint32_t* to) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    uint32_t* forms = to;
    to += kForms;
    for (size_t first = 0; first < kPairs; first += kTogether) {
      uint32_t form = 0;
      for (size_t i = first; i < kPairs && i < first + kTogether; ++i) {
        const uint64_t one = More(from, 2 * i);
        const uint64_t other = 2 * i + 1 < kNumbers ? More(from, 2 * i + 1) : 0;
        if ((one | other) == 0) continue;
        if ((one | other) >> 32 == 0) {
          form |= uint32_t{kHalves} << 2 * (i - first);
          const std::array<uint32_t, 2> halves = {static_cast<uint32_t>(one),
                                                  static_cast<uint32_t>(other)};
          std::memcpy(to, halves.data(), sizeof(halves));
          to += 2;
        } else {
          form |= uint32_t{kWhole} << 2 * (i - first);
          std::memcpy(to, &one, sizeof(one));
          std::memcpy(to + 2, &other, sizeof(other));
          to += 4;
        }
      }
      *forms++ = form;
    }
    return to;
  }

  // The first numbers of a T that was packed to `from`: all of them, or those of its first base.
  // Returns where the words of these end.
  template <class First>
  static const uint32_t* Unpack(const uint32_t* from, First& value) {
    constexpr size_t kWanted = sizeof(First) / sizeof(uint64_t);
    static_assert(kWanted <= kNumbers && sizeof(First) % sizeof(uint64_t) == 0);
    auto* const to = reinterpret_cast<std::byte*>(&value);
    const uint32_t* forms = from;
    from += kForms;
    for (size_t i = 0; 2 * i < kWanted; ++i) {
      const uint32_t form = forms[i / kTogether] >> 2 * (i % kTogether) & 3;
      uint64_t one = Fresh()[2 * i], other = 0;
      if (form == kHalves) {
        one += from[0];
        other = from[1];
        from += 2;
      } else if (form == kWhole) {
        uint64_t more;
        std::memcpy(&more, from, sizeof(more));
        one += more;
        std::memcpy(&other, from + 2, sizeof(other));
        from += 4;
      }
      std::memcpy(to + 2 * i * sizeof(one), &one, sizeof(one));
      if (2 * i + 1 == kWanted) break;
      other += Fresh()[2 * i + 1];
      std::memcpy(to + (2 * i + 1) * sizeof(other), &other, sizeof(other));
    }
    return from;
  }

 private:
  enum Form : uint32_t { kNothing, kHalves, kWhole };
  using Image = std::array<uint64_t, kNumbers>;

  static const Image& Fresh() {
    static constexpr Image kFresh = std::bit_cast<Image>(T());
    return kFresh;
  }
  static uint64_t More(const std::byte* numbers, size_t i) {
    uint64_t number;
    std::memcpy(&number, numbers + i * sizeof(number), sizeof(number));
    return number - Fresh()[i];
  }
};

}  // namespace clrscope::profile
