// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/bounds.h"

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

}  // namespace

Bounds AmountBounds(const Profile& p, const Estimate& value, bool partial) {
  if (p.has_interval()) return value.biased ? Bounds{} : Of(AmountInterval(value));
  if (p.shown().events()) return Of(WindowedAmount(value, p.shown().unseen()));
  if (!p.counted()) return {};
  if (IsExact(p, value) && !partial) return {value.amount, value.amount};
  return AtLeast(p, value.seen_amount, value.amount, 1);
}

Bounds CountBounds(const Profile& p, const Estimate& value, bool partial, HeapKind kind) {
  if (p.has_interval()) return value.biased ? Bounds{} : Of(CountInterval(value, kind));
  if (p.shown().events()) return Of(WindowedCount(value, p.shown().unseen()));
  if (!p.counted()) return {};
  if (p.exact() && !partial) return {value.count, value.count};
  return AtLeast(p, value.count, value.count, kSmallestObject);
}

}  // namespace clrscope::profile
