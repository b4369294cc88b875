// SPDX-License-Identifier: Apache-2.0
// What a sample stands for. The agent links this file and must not need the library of mathematics,
// so the two functions that it takes are here.
#include "profile/estimate/sample_weight.h"

#include "profile/estimate/estimate.h"

namespace clrscope::profile {

double ExpMinus1(double x) {
  if (x < -745) return -1;  // exp(x) is 0
  // e^2y - 1 = (e^y - 1)(e^y + 1), from an argument for which eight terms are exact to 1e-17.
  int doublings = 0;
  for (; x < -0.03125; x /= 2) ++doublings;
  double sum = 1;
  for (int n = 9; n >= 2; --n) sum = 1 + sum * x / n;
  double e = x * sum;
  for (; doublings > 0; --doublings) e *= e + 2;
  return e;
}

double HitProbability(double size, double mean) {
  constexpr double kRuntime = LogOfMiss(kSamplingMeanBytes);
  return -ExpMinus1(size * (mean == kSamplingMeanBytes ? kRuntime : LogOfMiss(mean)));
}

Estimate EstimateSampled(uint64_t n, double size, double mean) {
  const double p = HitProbability(size, mean);
  const auto count = static_cast<double>(n);
  Estimate e;
  e.samples = n;
  e.seen_count = count;
  e.seen_amount = count * size;
  e.count = count / p;
  e.amount = count * size / p;
  e.var_count = count * (1 - p) / (p * p);
  e.var_amount = e.var_count * size * size;
  e.max_count = n == 0 ? 0 : (1 - p) / p;
  e.max_amount = e.max_count * size;
  return e;
}

Estimate EstimateTick(uint64_t n, double amount, double size) {
  Estimate e;
  e.samples = n;
  e.biased = n != 0;
  e.amount = amount;
  e.count = size > 0 ? amount / size : 0;
  e.seen_amount = static_cast<double>(n) * size;
  e.seen_count = size > 0 ? static_cast<double>(n) : 0;
  return e;
}

}  // namespace clrscope::profile
