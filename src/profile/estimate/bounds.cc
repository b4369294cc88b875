// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/bounds.h"

#include <algorithm>
#include <cmath>

namespace clrscope::profile {
namespace {

Bounds Of(const Interval& interval) {
  Bounds bounds{interval.low, interval.high};
  if (std::isinf(interval.high)) bounds.high.reset();
  return bounds;
}

// `low` is certain; what is missing may all belong to this figure.
Bounds AtLeast(const Profile& p, double low, double value, double unit) {
  Bounds bounds;
  if (!p.whole) return bounds;
  bounds.low = low;
  if (const std::optional<double> missing = p.MissingHigh()) bounds.high = value + *missing / unit;
  return bounds;
}

// What requests allocated outside of the windows in which they were followed is not with them.
Bounds OfLive(const Profile& p, const Interval& interval) {
  Bounds bounds = Of(interval);
  if (OnlyInWindows(p)) bounds.high.reset();
  return bounds;
}

}  // namespace

Interval ClockInterval(const Figure& f, const Estimate& value) {
  if (value.windows.get() != nullptr) return WindowedAmount(value, kAnyNumber);
  return WholeIsKnown(f.source)
             ? ShareInterval(value, f.clock_samples, f.clock_amount)
             : CountedInterval(value, f.clock_amount / std::max(1.0, f.clock_samples));
}

bool OnlyInWindows(const Profile& p) {
  return p.measure() == Measure::kLive && p.shown().by_request() && p.requests.windows.any();
}

Bounds AmountBounds(const Profile& p, const Estimate& value, bool partial) {
  if (const Figure& f = p.shown(); f.clocked()) return Of(ClockInterval(f, value));
  if (p.has_interval()) return value.biased ? Bounds{} : OfLive(p, AmountInterval(value));
  if (p.shown().events()) return Of(WindowedAmount(value, p.shown().unseen()));
  if (!p.counted()) return {};
  if (IsExact(p, value) && !partial) return {value.amount, value.amount};
  return AtLeast(p, value.seen_amount, value.amount, 1);
}

Bounds CountBounds(const Profile& p, const Estimate& value, bool partial, HeapKind kind) {
  if (p.has_interval()) return value.biased ? Bounds{} : OfLive(p, CountInterval(value, kind));
  if (p.shown().events()) return Of(WindowedCount(value, p.shown().unseen()));
  if (!p.counted()) return {};
  if (p.exact() && !partial) return {value.count, value.count};
  return AtLeast(p, value.count, value.count, kSmallestObject);
}

}  // namespace clrscope::profile
