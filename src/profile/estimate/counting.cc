// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/counting.h"

#include <algorithm>

namespace clrscope::profile {

std::optional<uint64_t> Counting::MissingHigh() const {
  // A heap sends a tick when more than this was handed out of one kind (gc.cpp,
  // etw_allocation_tick); up to that, and one context, may be owed for each of three kinds.
  constexpr uint64_t kOwed = 3 * (100 * 1024 + 8 * 1024);
  if (!gc_known) return std::nullopt;
  const uint64_t handed_out = gc_bytes + kOwed * std::max<uint32_t>(gc_heaps, 1);
  const uint64_t counted = aligned_low + added_bytes - guessed_bytes;
  // Another tool's AllocationSampled silences the ticks.
  if (handed_out < counted) return std::nullopt;
  return handed_out - counted;
}

}  // namespace clrscope::profile
