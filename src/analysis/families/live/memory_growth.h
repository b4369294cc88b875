// SPDX-License-Identifier: Apache-2.0
// How a process's memory grew in a span of time, and how much of that the GC's heap can be at most.
//
// The runtime tells what the GC has committed at each collection, and nowhere else. What it commits
// after the last one is at most what is allocated from then on, less the free regions that it
// keeps. At the span's start it may have given these back meanwhile, and large objects are
// committed when they are allocated, but resident only once they are written to. So the most that
// the GC's heap can have grown by is known, where it is known what was allocated.
#pragma once

#include <cstdint>
#include <optional>

#include "profile/memory_reading.h"
#include "profile/profile.h"

namespace clrscope::analysis {

// What the GC had committed at the last collection that says so. -1 = not known.
struct GcMemory {
  int64_t at_ns = 0;
  int64_t committed_bytes = -1;
  int64_t free_bytes = -1;   // of these, regions without objects
  int64_t large_bytes = -1;  // of these, the large and the pinned object heap
  bool known() const { return committed_bytes >= 0; }
};

struct MemoryGrowth {
  profile::MemoryReading from, to;      // the first and the last one of the span
  GcMemory gc_from, gc_to;              // of the same collection where no other one came
  std::optional<int64_t> gc_at_most;    // growth of the GC's heap
  std::optional<int64_t> live_bytes{};  // growth of what lives, by samples

  int64_t grown() const { return to.total() - from.total(); }
  // What the readings may be off: the kernel adds up pages in batches.
  int64_t noise() const;
  // It is more than what readings are off, and what a recording takes in the process.
  bool notable() const;
  // More than half of the growth cannot be the GC's heap.
  bool mostly_outside() const;
  // … is the GC's heap, and not objects that live.
  bool mostly_free() const;
};

// Nothing where the process's memory was not read twice in the span. The profile holds what was
// allocated in all of it.
std::optional<MemoryGrowth> MemoryGrowthOf(const profile::Profile& profile, uint32_t process,
                                           int64_t from_ns, int64_t to_ns);

}  // namespace clrscope::analysis
