// SPDX-License-Identifier: Apache-2.0
#include "profile/unseen_live.h"

#include <algorithm>

namespace clrscope::profile {
namespace {

constexpr uint64_t kMemory = 64;  // states

}  // namespace

void UnseenLive::Add(std::span<const IntervalLive> lives, double mean_bytes) {
  ++states_;
  mean_bytes_ = mean_bytes;
  const double share = 1.0 / static_cast<double>(std::min(states_, kMemory));
  for (Type& t : types_) {
    t.bytes *= 1 - share;
    t.objects *= 1 - share;
  }
  for (const IntervalLive& l : lives) {
    // Generations 0 and 1 hold garbage of the last moments too, until a GC looks at it.
    if (l.young || l.generation < 2 || l.value.samples == 0) continue;
    if (l.type >= types_.size()) types_.resize(l.type + size_t{1});
    Type& t = types_[l.type];
    if (t.seen != states_) t.weight_bytes = t.weight_objects = 0;
    t.seen = states_;
    t.mean_bytes = mean_bytes;
    t.bytes += share * l.value.bytes;
    t.objects += share * l.value.objects;
    t.weight_bytes = std::max(t.weight_bytes, l.value.max_bytes);
    t.weight_objects = std::max(t.weight_objects, l.value.max_objects);
  }
}

Estimate UnseenLive::Value() const {
  Estimate e;
  for (const Type& t : types_) {
    if (t.seen == states_ || t.mean_bytes <= 0) continue;
    const double scale = mean_bytes_ / t.mean_bytes;
    e.var_bytes += t.bytes * t.weight_bytes * scale;
    e.var_objects += t.objects * t.weight_objects * scale;
  }
  return e;
}

}  // namespace clrscope::profile
