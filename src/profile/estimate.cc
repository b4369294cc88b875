// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate.h"

#include <cmath>

#include "profile/gamma.h"

namespace clrscope::profile {
namespace {

constexpr double kLowTail = 0.025, kHighTail = 0.975;

// `seen` was observed and is certain; the unseen rest is a weighted sum of counts with the given
// mean, variance and largest single weight.
Interval SeenPlusGamma(double seen, double unseen, double variance, double max_weight) {
  if (unseen <= 0 || variance <= 0) return {seen, seen};
  const double low_scale = variance / unseen;
  const double low = low_scale * GammaQuantile(kLowTail, unseen / low_scale);
  const double mean_up = unseen + max_weight;
  const double high_scale = (variance + max_weight * max_weight) / mean_up;
  const double high = high_scale * GammaQuantile(kHighTail, mean_up / high_scale);
  return {seen + low, seen + high};
}

// Nothing sampled: with chance 5 % or more of seeing nothing, at most -ln(0.025) means were allocated.
constexpr double kNothingSeen = 3.6888794541139363;

}  // namespace

double HitProbability(double size, double mean) { return -std::expm1(size * std::log1p(-1.0 / mean)); }

Estimate EstimateSampled(uint64_t n, double size, double mean) {
  const double p = HitProbability(size, mean);
  const auto count = static_cast<double>(n);
  Estimate e;
  e.samples = n;
  e.seen_objects = count;
  e.seen_bytes = count * size;
  e.objects = count / p;
  e.bytes = count * size / p;
  e.var_objects = count * (1 - p) / (p * p);
  e.var_bytes = e.var_objects * size * size;
  e.max_objects = n == 0 ? 0 : (1 - p) / p;
  e.max_bytes = e.max_objects * size;
  return e;
}

Estimate EstimateTick(uint64_t n, double amount, double size) {
  Estimate e;
  e.samples = n;
  e.bytes = amount;
  e.objects = size > 0 ? amount / size : 0;
  e.seen_bytes = static_cast<double>(n) * size;
  e.seen_objects = size > 0 ? static_cast<double>(n) : 0;
  return e;
}

Interval BytesInterval(const Estimate& e) {
  if (e.samples == 0) return {0, kNothingSeen * kSamplingMeanBytes};
  return SeenPlusGamma(e.seen_bytes, e.bytes - e.seen_bytes, e.var_bytes, e.max_bytes);
}

Interval ObjectsInterval(const Estimate& e) {
  if (e.samples == 0) return {0, kNothingSeen * kSamplingMeanBytes / 24};  // 24 bytes: the smallest object
  return SeenPlusGamma(e.seen_objects, e.objects - e.seen_objects, e.var_objects, e.max_objects);
}

}  // namespace clrscope::profile
