// SPDX-License-Identifier: Apache-2.0
// The runtime's two samplers of allocations as they look from outside, over any sequence of
// objects. Source: dotnet/runtime docs/design/features/RandomizedAllocationSampling.md
// (AllocationSampled); AllocationTick: see tick_rule.h
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "profile/estimate/estimate.h"
#include "profile/tables/series.h"
#include "profile/testing/tick_rule.h"

namespace clrscope::profile::testing {

class SamplingSimulator {
 public:
  SamplingSimulator(size_t types, size_t threads, uint64_t seed)
      : random_(seed),
        tick_random_(seed + 1),
        rule_(threads, uint64_t{16} << 20, tick_random_),
        contexts_(threads),
        truth_(types),
        sampled_(types),
        ticks_(types) {}

  struct Truth {
    double bytes = 0, objects = 0;
  };

  // One object of `type` on `thread`; its size is aligned to 8 as the runtime does.
  void Allocate(size_t thread, uint32_t type, uint64_t size) {
    size = (size + 7) & ~uint64_t{7};
    truth_[type].bytes += static_cast<double>(size);
    truth_[type].objects += 1;
    const bool large = size >= kLargeObject;
    SimObject object;
    object.size = static_cast<uint32_t>(size);
    object.thread = static_cast<uint16_t>(thread);
    object.kind = large ? HeapKind::kLoh : HeapKind::kSoh;
    if (const uint64_t amount = rule_.Allocate(object))
      ticks_[type][SizeClass(size)] += Sums{1, size, amount};
    if (large) {
      // Not from the thread's context: trials of its own.
      if (Gap() < size) Sample(type, size);
      return;
    }
    Context& c = contexts_[thread];
    if (size > c.left) {
      // The unused rest of the context is filled with a free object: no trials for it.
      const uint64_t fresh = size > kContext ? size : kContext;
      c.left = fresh;
      c.gap = Gap();  // trials have no memory
    }
    c.left -= size;
    if (c.gap < size) {
      Sample(type, size);
      c.gap = Gap();  // one event per object, then trials begin anew after it
    } else {
      c.gap -= size;
    }
  }

  const std::vector<Truth>& truth() const { return truth_; }
  // Through size classes, as a capture keeps them.
  Estimate Sampled(uint32_t type) const {
    Estimate e;
    for (const auto& [size_class, sums] : sampled_[type])
      e += EstimateOf(SeriesKey::Make(4, type, HeapKind::kSoh, Source::kSampled, size_class), sums);
    return e;
  }
  Estimate Ticks(uint32_t type) const {
    Estimate e;
    for (const auto& [size_class, sums] : ticks_[type])
      e += EstimateOf(SeriesKey::Make(4, type, HeapKind::kSoh, Source::kTick, size_class), sums);
    return e;
  }
  std::mt19937_64& random() { return random_; }

 private:
  static constexpr uint64_t kContext = 8192, kLargeObject = 85000;
  struct Context {
    uint64_t left = 0, gap = 0;
  };

  // Bytes that fail before the first that succeeds.
  uint64_t Gap() {
    const double u = (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53;
    return static_cast<uint64_t>(std::log(u) / std::log1p(-1 / kSamplingMeanBytes));
  }
  void Sample(uint32_t type, uint64_t size) { sampled_[type][SizeClass(size)] += Sums{1, size, 0}; }

  std::mt19937_64 random_, tick_random_;
  TickRule rule_;
  std::vector<Context> contexts_;
  std::vector<Truth> truth_;
  std::vector<std::map<uint16_t, Sums>> sampled_, ticks_;
};

}  // namespace clrscope::profile::testing
