// SPDX-License-Identifier: Apache-2.0
// Simulated programs whose rows mix sizes: a few objects that are seen, many small ones that hardly
// are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "profile/testing/program.h"

namespace clrscope::profile::testing {

// Byte arrays of log-normal sizes: of three medians, and of widths from narrow to five octaves.
inline Program LogNormal() {
  Program p("log-normal", 3, 3);
  static constexpr double kMedian[] = {64, 400, 6'000}, kSigma[] = {1.0, 1.8, 1.2};
  for (int i = 0; i < 90'000; ++i) {
    const auto type = static_cast<uint32_t>(p.Random() % 20);
    const uint32_t t = type < 14 ? 0 : type < 19 ? 1 : 2;
    // Box and Muller.
    const double normal =
        std::sqrt(-2 * std::log(1 - p.Unit())) * std::cos(2 * 3.141592653589793 * p.Unit());
    const double size = std::min(kMedian[t] * std::exp(kSigma[t] * normal), 4e6) + 24;
    p.Add(t, size, p.Unit() < 0.3 ? kForever : 2'000,
          size >= 85'000 ? HeapKind::kLoh : HeapKind::kSoh);
  }
  p.Finish();
  return p;
}

// Strings of 30 to 200 characters with a rare one of 100 KB; of each site another share is short.
inline Program Strings() {
  Program p("strings", 3, 2);
  static constexpr int kRare[] = {200, 2'000, 40};
  for (int i = 0; i < 120'000; ++i) {
    const auto type = static_cast<uint32_t>(i % 16 == 0 ? 2 : i % 4 == 0 ? 1 : 0);
    const bool rare = p.Random() % static_cast<uint64_t>(kRare[type]) == 0;
    const double characters = rare ? 50'000 + p.Pick(4'000) : 30 + p.Pick(171);
    p.Add(type, 22 + 2 * characters, p.Unit() < 0.25 ? kForever : 3'000,
          rare ? HeapKind::kLoh : HeapKind::kSoh);
  }
  p.Finish();
  return p;
}

// List<T>: each list grows by doubling from four elements to a number that is its own.
inline Program Lists() {
  Program p("lists", 3, 2);
  static constexpr int kElement[] = {8, 4, 24};
  static constexpr uint64_t kMost[] = {40, 3'000, 600};
  for (int list = 0; list < 14'000; ++list) {
    const auto type = static_cast<uint32_t>(list % 10 == 0 ? 2 : list % 7 == 0 ? 1 : 0);
    const auto count = static_cast<uint64_t>(p.Pick(kMost[type])) + 1;
    for (uint64_t capacity = 4;; capacity *= 2) {
      const bool last = capacity >= count;
      p.Add(type, 24 + static_cast<double>(capacity) * kElement[type],
            !last           ? 40
            : list % 3 == 0 ? kForever
                            : 5'000);
      if (last) break;
    }
  }
  p.Finish();
  return p;
}

// Dictionary<K, V>: buckets and entries by a ladder of primes, most of them small, some that are
// filled to the end.
inline Program Dictionaries() {
  Program p("dictionaries", 4, 2);
  static constexpr int kPrimes[] = {3, 7, 17, 37, 89, 197, 431, 919, 1931, 4049, 8419, 17519};
  for (int d = 0; d < 9'000; ++d) {
    const int steps = d % 300 == 0 ? 12 : d % 25 == 0 ? 7 : 1 + static_cast<int>(p.Pick(3));
    for (int i = 0; i < steps; ++i) {
      const double n = kPrimes[i];
      const uint32_t life = i + 1 < steps ? 60 : d % 4 == 0 ? kForever : 6'000;
      p.Add(0, 24 + 4 * n, life);
      p.Add(1, 24 + 24 * n, life, 24 + 24 * n >= 85'000 ? HeapKind::kLoh : HeapKind::kSoh);
    }
    p.Add(2, 80, d % 4 == 0 ? kForever : 6'000);
    p.Add(3, 32 + 8 * p.Pick(3), 100);
  }
  p.Finish();
  return p;
}

inline std::vector<Program (*)()> MixedPrograms() {
  return {LogNormal, Strings, Lists, Dictionaries};
}

}  // namespace clrscope::profile::testing
