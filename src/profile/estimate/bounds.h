// SPDX-License-Identifier: Apache-2.0
// How far off a figure may be, whatever event it rests on.
#pragma once

#include <optional>

#include "profile/profile.h"

namespace clrscope::profile {

// Of a figure that is clocked(): a share of a whole that is known, as many samples as came, or of
// requests that were followed in windows of time.
Interval ClockInterval(const Figure& figure, const Estimate& value);

struct Bounds {
  std::optional<double> low, high;  // no value: nothing can be said
};

// Live objects by request, of a recording in windows of time: what is told of a route is no more
// than a part of it.
bool OnlyInWindows(const Profile& profile);

// AllocationSampled: the 95 % interval. AllocationTick: nothing. GCSampledObjectAllocation: the
// figure itself when it is exact, else from what was counted up to what the GC handed out besides.
//   partial: the figure is of a type (Type::partial) that the runtime counts in part
//   kind: of the heap that all of it is on, if it is one
Bounds AmountBounds(const Profile& profile, const Estimate& value, bool partial = false);
Bounds CountBounds(const Profile& profile, const Estimate& value, bool partial = false,
                   HeapKind kind = HeapKind::kUnknown);

// Counted object by object, and none of the sizes is a guess.
inline bool IsExact(const Profile& profile, const Estimate& value) {
  return value.seen_amount == value.amount && profile.exact();
}

}  // namespace clrscope::profile
