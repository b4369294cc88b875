// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate.h"

#include <algorithm>
#include <cmath>

#include "profile/counting.h"
#include "profile/gamma.h"

namespace clrscope::profile {
namespace {

constexpr double kLowTail = 0.025, kHighTail = 0.975;

// -ln(0.025): where a Poisson count has this mean, it is 0 with a chance of 2.5 %. The upper end of
// the exact interval for a count of 0 (Garwood, Biometrika 28, 1936).
constexpr double kMeanOfUnlikelyZero = 3.6888794541139363;

// `seen` was observed and is certain; the unseen rest is a weighted sum of counts with the given
// mean and variance, in bytes or objects. An object of chance p stays unseen (1 - p) / p times for
// each time it is seen, and those counts are negative binomial, of variance (1 - p) / p²: for small
// p, which is nearly all of them, that is the weight's square, and the interval is that of weighted
// Poisson counts. For large objects it is more, and counts are whole: seeing everything is likely
// when little is expected to be unseen.
//
// The upper end allows for one sample more. Fay & Feuer give it the largest weight, which covers
// 97 % and more where weights differ much; Tiwari, Clegg & Zou the mean weight, which is too little
// for few samples. Here it is the mean by share of the variance, of equal weights the same as both.
//   unseen_objects   how many objects are expected to be unseen
//   max_weight       of a single sample
Interval SeenPlusGamma(double seen, double unseen, double variance, double unseen_objects,
                       double max_weight) {
  if (unseen <= 0 || variance <= 0 || unseen_objects <= 0 || max_weight <= 0) return {seen, seen};
  const double size = unseen / unseen_objects;
  const double half = size / 2;            // of one object: a continuous law for whole counts
  const double scale = variance / unseen;  // of equal weights size / p
  const double low = unseen_objects < kMeanOfUnlikelyZero
                         ? 0
                         : std::max(0.0, scale * GammaQuantile(kLowTail, unseen / scale) - half);
  const double mean_up = unseen + std::clamp(scale - size, 0.0, max_weight);
  const double variance_up = variance + (mean_up - unseen) * scale;
  const double high_scale = variance_up / mean_up;
  const double high = high_scale * GammaQuantile(kHighTail, mean_up / high_scale) + half;
  return {seen + low, seen + high};
}

}  // namespace

Interval BytesInterval(const Estimate& e) {
  if (e.samples == 0) return {0, kMeanOfUnlikelyZero * kSamplingMeanBytes};
  return SeenPlusGamma(e.seen_bytes, e.bytes - e.seen_bytes, e.var_bytes,
                       e.objects - e.seen_objects, e.max_bytes);
}

Interval ObjectsInterval(const Estimate& e) {
  if (e.samples == 0)
    return {0, kMeanOfUnlikelyZero * kSamplingMeanBytes / static_cast<double>(kSmallestObject)};
  return SeenPlusGamma(e.seen_objects, e.objects - e.seen_objects, e.var_objects,
                       e.objects - e.seen_objects, e.max_objects);
}

}  // namespace clrscope::profile
