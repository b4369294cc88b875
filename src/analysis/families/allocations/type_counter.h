// SPDX-License-Identifier: Apache-2.0
// What GCSampledObjectAllocation's figures need beside their sums: sizes as the GC rounds them, and
// the objects that the runtime leaves out.
//
// The runtime looks a type up in its thread's table; when it is new there, in that of the process;
// and when it is known there already, it takes that for a failure and leaves the object uncounted
// (LookupOrCreateTypeLoggingInfo). So each thread but the one that named the type, in a BulkType of
// its own, misses its first object of the type.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "profile/estimate/counting.h"

namespace clrscope::analysis {

class TypeCounter {
 public:
  explicit TypeCounter(profile::CountMode mode) : mode_(mode) {}

  // One event. Returns whether an object that came before it was left out and is to be added.
  //   type: an index; objects: > 0; bytes: of all of them
  bool Add(uint64_t thread, uint32_t type, uint32_t objects, uint64_t bytes) {
    ++totals_.events;
    if (objects == 1) {
      const uint64_t aligned = (bytes + 7) & ~uint64_t{7};
      totals_.aligned_low += aligned;
      totals_.aligned_high += aligned;
    } else {
      AddGathered(type, objects, bytes);
    }
    return mode_ == profile::CountMode::kAll && IsFirst(thread, type, bytes);
  }

  // `thread` named the type. Calls add(thread, bytes) for objects that were left out and that
  // nobody could tell before.
  //   varies: objects of the type have different sizes (arrays, strings)
  template <class F>
  void Named(uint64_t thread, uint32_t type, bool varies, F&& add) {
    TypeState& t = State(type);
    t.varies = varies;
    t.named = true;
    if (mode_ != profile::CountMode::kAll) return;
    Mark(LaneOf(thread), type);
    std::erase_if(waiting_, [&](const Waiting& w) {
      if (w.type != type) return false;
      if (w.thread != thread) add(w.thread, w.bytes);
      return true;
    });
  }
  bool varies(uint32_t type) const { return type >= types_.size() || types_[type].varies; }

  // Into the figures of `c` that this class knows.
  void Fill(profile::Counting& c) const;

 private:
  struct TypeState {
    uint64_t objects = 0, bytes = 0;  // of events with more than one object
    bool varies = true, named = false;
  };
  struct Waiting {
    uint64_t thread;
    uint32_t type;
    uint64_t bytes;
  };
  struct Lane {
    uint64_t thread = 0;
    std::vector<uint64_t> seen;  // a bit per type
  };

  TypeState& State(uint32_t type) {
    if (type >= types_.size()) types_.resize(type + 1 + types_.size() / 2);
    return types_[type];
  }
  bool IsFirst(uint64_t thread, uint32_t type, uint64_t bytes) {
    Lane& lane = LaneOf(thread);
    const size_t word = type / 64;
    if (word < lane.seen.size() && (lane.seen[word] >> (type % 64) & 1) != 0) return false;
    return IsFirstSlow(lane, type, bytes);
  }
  Lane& LaneOf(uint64_t thread) {
    size_t& recent = recent_[thread % recent_.size()];
    if (recent < lanes_.size() && lanes_[recent].thread == thread) return lanes_[recent];
    recent = FindLane(thread);
    return lanes_[recent];
  }
  bool IsFirstSlow(Lane& lane, uint32_t type, uint64_t bytes);
  size_t FindLane(uint64_t thread);
  static void Mark(Lane& lane, uint32_t type);
  void AddGathered(uint32_t type, uint32_t objects, uint64_t bytes);

  profile::CountMode mode_;
  profile::Counting totals_;  // events and sizes of single objects
  std::vector<TypeState> types_;
  std::vector<Lane> lanes_;
  std::array<size_t, 16> recent_{};
  FlatMap lane_of_thread_;
  std::vector<Waiting> waiting_;  // first events of a type on a thread before anyone named the type
};

}  // namespace clrscope::analysis
