// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/estimate.h"

#include <algorithm>
#include <cmath>

#include "profile/estimate/beta.h"
#include "profile/estimate/counting.h"
#include "profile/estimate/gamma.h"

namespace clrscope::profile {
namespace {

constexpr double kTail = 0.025;
// By as few samples it is open whether a row has one size.
constexpr double kFewSamples = 10;

// -ln(0.025): where a Poisson count has this mean, it is 0 with a chance of 2.5 %. The upper end of
// the exact interval for a count of 0 (Garwood, Biometrika 28, 1936).
constexpr double kMeanOfUnlikelyZero = 3.6888794541139363;

// -ln(0.02): the same, of objects that may hide beside others. With 2 % for them, the lower end may
// be missed in 5 % and 93 % are left; where nothing hides, those 5 % alone.
constexpr double kMeanOfHidden = 3.912023005428146;

// `seen` was observed and is certain; the unseen rest is a weighted sum of counts with the given
// mean and variance, in bytes or objects. An object of chance p stays unseen (1 - p) / p times for
// each time it is seen, and those counts are negative binomial, of variance (1 - p) / p²: for small
// p, which is nearly all of them, that is the weight's square, and the interval is that of weighted
// Poisson counts. For large objects it is more, and counts are whole: seeing everything is likely
// when little is expected to be unseen.
struct Sum {
  double seen = 0, unseen = 0, variance = 0;
  double unseen_objects = 0;  // how many objects are expected to be unseen
  double max_weight = 0;      // of a single sample

  bool IsCertain() const {
    return unseen <= 0 || variance <= 0 || unseen_objects <= 0 || max_weight <= 0;
  }
  // Half an object: counts are whole, and the law is continuous.
  double half() const { return unseen / unseen_objects / 2; }
  // Of the gamma law; of equal weights size / p.
  double scale() const { return variance / unseen; }

  // Allows for one sample more. Fay & Feuer give it the largest weight, which covers 97 % and more
  // where weights differ much; Tiwari, Clegg & Zou the mean weight, which is too little for few
  // samples. Here it is the mean by share of the variance, of equal weights the same as both.
  double High() const {
    const double mean = unseen + std::clamp(scale() - 2 * half(), 0.0, max_weight);
    const double high_scale = (variance + (mean - unseen) * scale()) / mean;
    return seen + high_scale * GammaQuantile(1 - kTail, mean / high_scale) + half();
  }
  // By the gamma law of this scale that starts at where it has the sum's mean and variance.
  double Low(double tail, double with_scale) const {
    if (unseen_objects < kMeanOfUnlikelyZero) return seen;
    const double start = unseen - variance / with_scale;
    const double shape = variance / (with_scale * with_scale);
    return seen + std::max(0.0, start + with_scale * GammaQuantile(tail, shape) - half());
  }
  Interval Both() const {
    if (IsCertain()) return {seen, seen};
    return {Low(kTail, scale()), High()};
  }
};

// The size of the smallest object that is in the sample. (At a given sampling mean both largest
// weights are those of that object.)
double SmallestSeen(const Estimate& e) { return e.max_amount / e.max_count; }

// The largest number of objects that may hide behind what was seen, where sizes differ: as many of
// the least size as have no sample with a chance of 2 %. 0 where all have one size.
double HiddenObjects(const Estimate& e, HeapKind kind) {
  if (e.max_count <= 0 || e.seen_count <= 0) return 0;
  if (!e.many_sizes && !SizesDiffer(e)) return 0;
  const double mean = std::max(kSamplingMeanBytes, SmallestSeen(e) / std::log1p(1 / e.max_count));
  const auto least =
      static_cast<double>(kind == HeapKind::kLoh ? kDefaultLohThreshold : kSmallestObject);
  return kMeanOfHidden / -std::expm1(-least / mean);
}

// Of a sum over windows. `less`, `more` and `least`: those of WindowGroups; `other`: the variance
// of what is not of windows.
Interval Windowed(double value, double seen, const std::array<float, kGroups>& without,
                  const WindowGroups& w, double less, double more, double unseen_of_all,
                  double least, double other) {
  // Figures of several seconds that are added up have the most of one of them.
  const double most = w.open ? kAnyNumber : std::max(value + more, seen + unseen_of_all);
  if (w.few) return {seen, most};
  // Student's t over the normal law's 1.96, for 1 to 15 degrees of freedom.
  constexpr double kWider[] = {6.4829, 2.1952, 1.6237, 1.4166, 1.3116, 1.2485, 1.2065, 1.1766,
                               1.1542, 1.1368, 1.1230, 1.1117, 1.1023, 1.0943, 1.0875};
  // Where a few groups hold most of it, there are as many as these: three times the inverse of the
  // fourth moment, which is all of them for a normal law.
  double squares = 0, fourths = 0;
  for (const float d : without) {
    const double square = static_cast<double>(d) * static_cast<double>(d);
    squares += square;
    fourths += square * square;
  }
  const double alike = fourths > 0 ? 3 * squares * squares / fourths : kGroups;
  const size_t groups = std::min<size_t>(w.groups, static_cast<size_t>(alike));
  const size_t freedom = std::clamp<size_t>(groups, 2, kGroups) - 1;
  const double wider = kWider[freedom - 1];
  const double variance = std::max(WindowGroups::Variance(without) * wider * wider, least) + other;
  // Everything together is as the counter says: what is left are the digits of floats.
  constexpr double kDigits = 1e-6;
  if (!w.open && std::sqrt(variance) <= kDigits * value)
    return {std::max(seen, value - less),
            std::max(value, std::min(most, value + std::max(more, w.hidden)))};
  constexpr double kAnyWeight = 1e300;
  Interval interval;
  if (w.left) {
    const double half = kNormalQuantile * std::sqrt(variance);
    interval = {std::max(0.0, value - half), value + half};
  } else {
    interval = Sum{seen, value - seen, variance, value - seen, kAnyWeight}.Both();
  }
  interval.low = std::max(seen, interval.low - less);
  interval.high = w.open ? kAnyNumber : std::min(most, std::max(interval.high, value) + more);
  return interval;
}

}  // namespace

Interval WindowedCount(const Estimate& e, double unseen) {
  const WindowGroups* w = e.windows.get();
  if (w == nullptr) return {e.count, e.count};
  return Windowed(e.count, e.seen_count, w->count, *w, w->less_count, w->more_count, unseen,
                  w->least_count, e.var_count);
}
Interval WindowedAmount(const Estimate& e, double unseen) {
  const WindowGroups* w = e.windows.get();
  if (w == nullptr) return {e.amount, e.amount};
  return Windowed(e.amount, e.seen_amount, w->amount, *w, w->less_amount, w->more_amount, unseen,
                  w->least_amount, e.var_amount);
}

bool SizesDiffer(const Estimate& e) {
  constexpr double kSameSize = 1 + 1e-4;
  return e.samples >= 2 && e.max_count > 0 && e.seen_count > 0 &&
         e.seen_amount / e.seen_count >= SmallestSeen(e) * kSameSize;
}

Interval ShareInterval(const Estimate& e, double samples, double whole) {
  const double certain = e.seen_amount, part = e.amount - certain;
  const auto n = std::min(static_cast<double>(e.samples), samples);
  if (samples <= 0 || whole <= 0 || (n <= 0 && certain > 0)) return {e.amount, e.amount};
  if (n >= samples) return {e.amount, e.amount};
  if (n <= 0) return {certain, certain + whole * (1 - std::pow(kTail, 1 / samples))};
  const double low = BetaQuantile(n, samples - n + 1, kTail);
  const double high = BetaQuantile(n + 1, samples - n, 1 - kTail);
  // Samples of different threads stand for slightly different times.
  const double each = part / n;
  return {certain + each * samples * low,
          certain + std::max(part, std::min(whole, each * samples * high))};
}

Interval CountedInterval(const Estimate& e, double each) {
  const double certain = e.seen_amount, part = e.amount - certain;
  const auto n = static_cast<double>(e.samples);
  if (n <= 0) return {certain, certain + (certain > 0 ? 0 : each * GammaQuantile(1 - kTail, 1))};
  return {certain + part / n * GammaQuantile(kTail, n),
          certain + part / n * GammaQuantile(1 - kTail, n + 1)};
}

Interval AmountInterval(const Estimate& e) {
  if (const WindowGroups* w = e.windows.get())
    return WindowedAmount(e, w->unseen_amount > 0 ? w->unseen_amount : kAnyNumber);
  if (e.samples == 0) return {0, kMeanOfUnlikelyZero * kSamplingMeanBytes};
  return Sum{e.seen_amount, e.amount - e.seen_amount, e.var_amount, e.count - e.seen_count,
             e.max_amount}
      .Both();
}

Interval CountInterval(const Estimate& e, HeapKind kind) {
  if (const WindowGroups* w = e.windows.get())
    return WindowedCount(e, w->unseen_count > 0 ? w->unseen_count : kAnyNumber);
  if (e.samples == 0)
    return {0, kMeanOfUnlikelyZero * kSamplingMeanBytes / static_cast<double>(kSmallestObject)};
  const Sum sum{e.seen_count, e.count - e.seen_count, e.var_count, e.count - e.seen_count,
                e.max_count};
  const double hidden = HiddenObjects(e, kind);
  if (hidden <= 0 || sum.IsCertain()) return sum.Both();
  // What hides and what is seen err by themselves: MOVER, as for a difference.
  const double up = sum.High() - e.count, far_up = std::hypot(up, hidden);
  // Where nothing hides, the upper end is now missed less often than in 2.5 %, and the interval
  // would cover too much: the lower end takes what is spared. Of few samples, which may show one
  // size by chance, it takes less.
  const double many = std::max(0.0, 1 - kFewSamples / static_cast<double>(e.samples));
  const double spared = (kTail - NormalTail(kNormalQuantile * far_up / up)) * many;
  // The skewest law that the largest weight allows: a few large weights beside many small ones.
  return {sum.Low(kTail + spared, std::max(sum.scale(), e.max_count)), e.count + far_up};
}

}  // namespace clrscope::profile
