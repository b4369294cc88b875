// SPDX-License-Identifier: Apache-2.0
// How many bytes each AllocationTick may be said to stand for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "profile/testing/tick_rule.h"

namespace clrscope::bench {

using profile::testing::SimTick;
using Weights = std::vector<double>;  // bytes, by tick

inline constexpr double kStride = profile::testing::kTickStride;

inline Weights ByAmount(const std::vector<SimTick>& ticks, double /*whole*/) {
  Weights w;
  for (const SimTick& t : ticks) w.push_back(t.amount);
  return w;
}

inline Weights ByHundredKb(const std::vector<SimTick>& ticks, double /*whole*/) {
  return Weights(ticks.size(), kStride);
}

// The whole shared out by what each tick tells of itself.
inline Weights ShareOut(const std::vector<SimTick>& ticks, double whole, double SimTick::*of) {
  double sum = 0;
  for (const SimTick& t : ticks) sum += t.*of;
  Weights w;
  for (const SimTick& t : ticks) w.push_back(t.*of * whole / sum);
  return w;
}

// The whole (known from the GC's counter) by the bytes of the named objects.
inline Weights BySampledBytes(const std::vector<SimTick>& ticks, double whole) {
  return ShareOut(ticks, whole, &SimTick::size);
}

// The amounts, brought to the whole that the GC counts.
inline Weights ByScaledAmount(const std::vector<SimTick>& ticks, double whole) {
  return ShareOut(ticks, whole, &SimTick::amount);
}

// Size over chance: an object below the stride is named about as often as it has bytes in a stride
// and half a grant, one beyond it always.
inline Weights BySizeOverChance(const std::vector<SimTick>& ticks, double /*whole*/) {
  constexpr double kMean = kStride + profile::testing::kGrant / 2.0;
  Weights w;
  for (const SimTick& t : ticks) w.push_back(std::max(t.size, kMean));
  return w;
}

// An object beyond the stride stands for itself; what is left of its heap's amounts is shared by
// the others, each alike. An object below the stride that makes a tick brings its own size into the
// amount, so amounts favour the larger ones.
inline Weights ByPool(const std::vector<SimTick>& ticks, double /*whole*/) {
  Weights w(ticks.size());
  for (size_t heap = 0; heap < 3; ++heap) {
    double pool = 0, small = 0;
    for (const SimTick& t : ticks) {
      if (static_cast<size_t>(t.kind) != heap) continue;
      pool += t.size >= kStride ? t.amount - t.size : t.amount;
      small += t.size >= kStride ? 0 : 1;
    }
    for (size_t i = 0; i < ticks.size(); ++i) {
      const SimTick& t = ticks[i];
      if (static_cast<size_t>(t.kind) != heap) continue;
      w[i] = small == 0 ? t.amount : t.size >= kStride ? t.size : pool / small;
    }
  }
  return w;
}

// The named object's own bytes are certain to be its type's. The rest of the amounts went to
// objects that made no tick: shared by the chance of an object of that size to make none.
inline double Unnamed(const SimTick& t) {
  return std::max(0.0, 1 - t.size / (kStride + profile::testing::kGrant / 2.0));
}
inline Weights ByOwnAndRest(const std::vector<SimTick>& ticks, double /*whole*/) {
  Weights w(ticks.size());
  for (size_t heap = 0; heap < 3; ++heap) {
    double rest = 0, chances = 0;
    for (const SimTick& t : ticks) {
      if (static_cast<size_t>(t.kind) != heap) continue;
      rest += t.amount - t.size;
      chances += Unnamed(t);
    }
    for (size_t i = 0; i < ticks.size(); ++i) {
      if (static_cast<size_t>(ticks[i].kind) != heap) continue;
      w[i] = chances == 0 ? ticks[i].amount : ticks[i].size + rest * Unnamed(ticks[i]) / chances;
    }
  }
  return w;
}

// The same as it can be done event by event: what a tick leaves of the rest goes to the next ones.
inline Weights ByCarriedRest(const std::vector<SimTick>& ticks, double /*whole*/) {
  Weights w;
  double rest[3] = {};
  for (const SimTick& t : ticks) {
    double& r = rest[static_cast<size_t>(t.kind)];
    r += std::max(0.0, t.amount - t.size);
    const double taken = r * Unnamed(t);
    r -= taken;
    w.push_back(t.size + taken);
  }
  return w;
}
// What captures do.
inline constexpr auto kUsedOnTicks = ByAmount;

struct TickEstimator {
  const char* name;
  Weights (*weights)(const std::vector<SimTick>&, double whole);
};
inline constexpr TickEstimator kTickEstimators[] = {
    {"amount", ByAmount},
    {"amount, scaled to the GC's count", ByScaledAmount},
    {"size ÷ chance", BySizeOverChance},
    {"pooled", ByPool},
    {"own bytes and a share of the rest", ByOwnAndRest},
    {"own bytes and the rest carried on", ByCarriedRest},
    {"× 100 KB", ByHundredKb},
    {"total ÷ sampled bytes", BySampledBytes},
};

}  // namespace clrscope::bench
