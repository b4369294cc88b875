// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/allocations/type_counter.h"

#include <algorithm>

namespace clrscope::analysis {

bool TypeCounter::IsFirstSlow(Lane& lane, uint32_t type, uint64_t bytes) {
  const uint64_t thread = lane.thread;
  Mark(lane, type);
  if (State(type).named) return true;
  waiting_.push_back({thread, type, bytes});
  return false;
}

size_t TypeCounter::FindLane(uint64_t thread) {
  const uint32_t found = lane_of_thread_.Find(thread);
  if (found != FlatMap::kNone) return found;
  const size_t lane = lanes_.size();
  lane_of_thread_.Set(thread, static_cast<uint32_t>(lane));
  lanes_.push_back({thread, {}});
  return lane;
}

void TypeCounter::Mark(Lane& lane, uint32_t type) {
  const size_t word = type / 64;
  if (word >= lane.seen.size()) lane.seen.resize(word + 1);
  lane.seen[word] |= uint64_t{1} << (type % 64);
}

void TypeCounter::AddGathered(uint32_t type, uint32_t objects, uint64_t bytes) {
  TypeState& t = State(type);
  t.objects += objects;
  t.bytes += bytes;
}

void TypeCounter::Fill(profile::Counting& c) const {
  c.events = totals_.events;
  c.aligned_low = totals_.aligned_low;
  c.aligned_high = totals_.aligned_high;
  c.threads = lanes_.size();
  for (const TypeState& t : types_) {
    if (t.objects == 0) continue;
    if (!t.varies && t.bytes % t.objects == 0) {
      const uint64_t aligned = (t.bytes / t.objects + 7) / 8 * 8 * t.objects;
      c.aligned_low += aligned;
      c.aligned_high += aligned;
    } else {
      c.aligned_low += (t.bytes + 7) / 8 * 8;
      c.aligned_high += t.bytes + 7 * t.objects;
    }
  }
}

}  // namespace clrscope::analysis
