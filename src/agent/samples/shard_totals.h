// SPDX-License-Identifier: Apache-2.0
// The counts of all shards together, from the library's load on: what one stay of the agent, or one
// interval, counted is the difference of two sums.
#pragma once

#include <cstdint>

#include "agent/async/async_end.h"
#include "agent/stacks/stack_walk.h"

namespace clrscope::agent {

// As ShardCounts has them.
struct ShardTotals {
  uint64_t samples = 0, nanoseconds = 0, snapshots = 0, snapshot_failed = 0, full = 0, paused = 0,
           births_lost = 0, handle_failed = 0, equal = 0, different = 0, skipped = 0, shallow = 0,
           turned_away = 0, ends[kWalkEnds] = {}, events = 0, event_ns = 0, events_lost = 0,
           types_capped = 0, unended = 0, frames = 0, outside = 0, throws = 0, throw_ns = 0,
           throw_frames = 0, throws_outside = 0, async_ends[kAsyncEnds] = {}, async_ns = 0,
           async_several = 0;

  // Stacks some of whose async callers are missing.
  uint64_t async_unknown() const {
    uint64_t sum = 0;
    for (size_t i = 0; i < kAsyncEnds; ++i)
      if (IsUnknown(static_cast<AsyncEnd>(i))) sum += async_ends[i];
    return sum;
  }
};

ShardTotals SumShards();
// Of what measures cost alone.
ShardTotals operator-(ShardTotals now, const ShardTotals& before);

}  // namespace clrscope::agent
