// SPDX-License-Identifier: Apache-2.0
// Sums of what events say, which may be damaged.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/saturate.h"

namespace clrscope::analysis {

// No heap is larger than 2^50 bytes; damaged input may say so, and sums must not overflow.
inline constexpr uint64_t kMaxBytes = uint64_t{1} << 50;
inline int64_t I64(uint64_t v) { return static_cast<int64_t>(std::min(v, kMaxBytes)); }
inline int64_t Known(int64_t v) { return std::clamp<int64_t>(v, -1, kMaxBytes); }

// Of server GC; more is damage.
inline constexpr uint32_t kMaxHeaps = 1024;

// Clocks of damaged input run backwards, too.
inline int64_t Since(int64_t from_ns, int64_t to_ns) {
  return std::clamp<int64_t>(SaturatedSub(to_ns, from_ns), 0, int64_t{1} << 60);
}

// What an event adds to an unknown figure makes it known.
inline void Add(int64_t& figure, int64_t more) {
  figure = SaturatedAdd(std::max<int64_t>(figure, 0), more);
}

}  // namespace clrscope::analysis
