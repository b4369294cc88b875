// SPDX-License-Identifier: Apache-2.0
#include "profile/bounds.h"

namespace clrscope::profile {
namespace {

Bounds Of(const Interval& interval) { return {interval.low, interval.high}; }

// `low` is certain; what is missing may all belong to this figure.
Bounds AtLeast(const Profile& p, double low, double value, double unit) {
  Bounds bounds;
  if (!p.whole) return bounds;
  bounds.low = low;
  if (const std::optional<double> missing = p.MissingHigh()) bounds.high = value + *missing / unit;
  return bounds;
}

}  // namespace

Bounds BytesBounds(const Profile& p, const Estimate& value, bool partial) {
  if (p.has_interval()) return value.biased ? Bounds{} : Of(BytesInterval(value));
  if (!p.counted()) return {};
  if (IsExact(p, value) && !partial) return {value.bytes, value.bytes};
  return AtLeast(p, value.seen_bytes, value.bytes, 1);
}

Bounds ObjectsBounds(const Profile& p, const Estimate& value, bool partial, HeapKind kind) {
  if (p.has_interval()) return value.biased ? Bounds{} : Of(ObjectsInterval(value, kind));
  if (!p.counted()) return {};
  if (p.exact() && !partial) return {value.objects, value.objects};
  return AtLeast(p, value.objects, value.objects, kSmallestObject);
}

}  // namespace clrscope::profile
