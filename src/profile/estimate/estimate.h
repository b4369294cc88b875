// SPDX-License-Identifier: Apache-2.0
// What samples say about all allocations, with the error of saying so.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "profile/estimate/source.h"
#include "profile/estimate/window_groups.h"

namespace clrscope::profile {

// The heap that an object was allocated on; the wire values of the runtime's events.
enum class HeapKind : uint8_t { kSoh = 0, kLoh = 1, kPoh = 2, kUnknown = 3 };
constexpr HeapKind HeapKindOf(uint32_t wire) {
  return wire <= 2 ? static_cast<HeapKind>(wire) : HeapKind::kUnknown;
}

constexpr std::string_view KindName(HeapKind kind) {
  return kind == HeapKind::kSoh   ? "SOH"
         : kind == HeapKind::kLoh ? "LOH"
         : kind == HeapKind::kPoh ? "POH"
                                  : "unknown";
}

// Counted figures know sizes but not heaps: "LOH size" or "unknown".
constexpr std::string_view KindName(HeapKind kind, Source source) {
  return source == Source::kCounted && kind == HeapKind::kLoh ? "LOH size" : KindName(kind);
}

inline constexpr double kSamplingMeanBytes = 102400.0;
inline constexpr double kNormalQuantile = 1.959963984540054;  // of 97.5 %

// Additive summary of samples: of one row, one stack, or everything.
//   samples          events
//   count, amount    how many, and how much in all: objects and bytes, throws and rethrows, waits
//                    and nanoseconds (MeasureSpec says what); estimates where events are samples
//   seen_*           count and amount of what the events themselves show: a certain lower bound
//   var_*            variance of the estimates: of samples, and of what a counter says
//   max_*            largest single-sample weight (Sampled only), for the intervals
struct Estimate {
  uint64_t samples = 0;
  double amount = 0, count = 0;
  double seen_amount = 0, seen_count = 0;
  double var_amount = 0, var_count = 0;
  double max_amount = 0, max_count = 0;
  bool biased = false;  // rests on AllocationTick, at least in part: no interval
  // Of a type, in part at least, of which objects of several sizes were seen anywhere in the
  // recording (profile/estimate/type_sizes.h).
  bool many_sizes = false;
  OptionalGroups windows{};  // rests, in part at least, on windows of time

  // There may be figures without samples: what the system tells.
  bool none() const { return samples == 0 && amount == 0 && count == 0; }

  Estimate& operator+=(const Estimate& o) {
    samples += o.samples;
    amount += o.amount;
    count += o.count;
    seen_amount += o.seen_amount;
    seen_count += o.seen_count;
    var_amount += o.var_amount;
    var_count += o.var_count;
    if (o.max_amount > max_amount) max_amount = o.max_amount;
    if (o.max_count > max_count) max_count = o.max_count;
    biased = biased || o.biased;
    many_sizes = many_sizes || o.many_sizes;
    windows += o.windows;
    return *this;
  }
};

// The same, of what had a chance of 1 / `weight` to be seen at all.
inline Estimate StandingFor(Estimate e, double weight) {
  if (weight == 1) return e;
  for (double* v : {&e.amount, &e.count, &e.max_amount, &e.max_count}) *v *= weight;
  for (double* v : {&e.var_amount, &e.var_count}) *v *= weight * weight;
  return e;
}

struct Interval {
  double low = 0, high = 0;
};

// The chance that at least one byte of an object of `size` bytes is hit: 1 - (1 - 1/mean)^size.
// Source: dotnet/runtime docs/design/features/RandomizedAllocationSampling.md
double HitProbability(double size, double mean = kSamplingMeanBytes);

// `n` AllocationSampled events of objects of `size` bytes each (size > 0).
Estimate EstimateSampled(uint64_t n, double size, double mean = kSamplingMeanBytes);

// `n` AllocationTick events with `amount` bytes in all; `size` is the mean size of the sampled
// objects, or 0 before payload V4, where objects cannot be estimated and stay 0.
Estimate EstimateTick(uint64_t n, double amount, double size);

// 95 % intervals of a sum of Sampled estimates. Right for few samples too: the objects that were
// seen are certain, the rest is a gamma interval matched to its mean and variance (Fay & Feuer,
// Statistics in Medicine 16, 1997; its upper end after Tiwari, Clegg & Zou, Statistical Methods in
// Medical Research 15, 2006), which for equal weights is the exact Poisson interval. Where sizes
// differ, in this row or elsewhere in its types, smaller objects may hide of which there is no
// sample: the upper end allows for them (docs/decisions/0002-intervals.md); `kind`: where all of
// them are, the LOH has no small ones.
Interval AmountInterval(const Estimate& e);
Interval CountInterval(const Estimate& e, HeapKind kind = HeapKind::kUnknown);

// 95 % intervals of sums that rest on windows (Estimate::windows). What was seen is certain; the
// rest is a gamma law of the variance between windows, wider by Student's t for as few groups.
//   unseen: how many there are in all that nobody saw, kAnyNumber where that is not known
inline constexpr double kAnyNumber = std::numeric_limits<double>::infinity();
Interval WindowedCount(const Estimate& e, double unseen);
Interval WindowedAmount(const Estimate& e, double unseen);

// The 95 % interval of a part of a whole that is known, of which `samples` were taken: that of a
// binomial share (Clopper & Pearson, Biometrika 26, 1934). `seen_amount` of it is certain, and not
// in the whole.
Interval ShareInterval(const Estimate& e, double samples, double whole);
// … of a whole that is not known: the exact Poisson interval. `each`: what a sample stands for
// where `e` has none.
Interval CountedInterval(const Estimate& e, double each);

// Whether the samples of `e` differ in size.
bool SizesDiffer(const Estimate& e);

}  // namespace clrscope::profile
