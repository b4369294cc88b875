// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/gamma.h"

#include <math.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace clrscope::profile {
namespace {

constexpr int kMaxTerms = 10000;
constexpr double kEpsilon = 1e-15;

double LogGamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// Power series; converges fast for x < shape + 1 (Abramowitz & Stegun 6.5.29).
double LowerSeries(double shape, double x) {
  double term = 1.0 / shape;
  double sum = term;
  for (int i = 1; i < kMaxTerms; ++i) {
    term *= x / (shape + i);
    sum += term;
    if (term < sum * kEpsilon) break;
  }
  return sum * std::exp(-x + shape * std::log(x) - LogGamma(shape));
}

// Continued fraction by Lentz's method for x >= shape + 1 (Abramowitz & Stegun 6.5.31).
double UpperFraction(double shape, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1.0 - shape;
  double c = 1.0 / kTiny;
  double d = 1.0 / b;
  double h = d;
  for (int i = 1; i < kMaxTerms; ++i) {
    const double an = -i * (i - shape);
    b += 2.0;
    d = an * d + b;
    if (std::fabs(d) < kTiny) d = kTiny;
    c = b + an / c;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1.0 / d;
    const double delta = d * c;
    h *= delta;
    if (std::fabs(delta - 1.0) < kEpsilon) break;
  }
  return h * std::exp(-x + shape * std::log(x) - LogGamma(shape));
}

// Of the standard normal law: Abramowitz & Stegun 26.2.23, then Newton's steps.
double NormalQuantile(double p) {
  const double tail = std::min(p, 1 - p);
  const double t = std::sqrt(-2 * std::log(tail));
  double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                     (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int i = 0; i < 3; ++i)
    z += (NormalTail(z) - tail) * std::sqrt(2 * std::numbers::pi) * std::exp(z * z / 2);
  return p < 0.5 ? -z : z;
}

}  // namespace

double NormalTail(double z) { return std::erfc(z / std::numbers::sqrt2) / 2; }

double GammaP(double shape, double x) {
  if (x <= 0) return 0;
  return x < shape + 1 ? LowerSeries(shape, x) : 1 - UpperFraction(shape, x);
}

double GammaQuantile(double p, double shape) {
  // Wilson–Hilferty: a start that is already within a part in a thousand for shape > 1, and better
  // than double arithmetic on P(shape, x) for very large shapes.
  const double t = 1.0 / (9.0 * shape);
  const double cube = 1.0 - t + NormalQuantile(p) * std::sqrt(t);
  const double start = shape * cube * cube * cube;
  if (shape > 1e6) return start;
  double low = 0;
  double high = std::max({start * 2, shape * 2, 10.0});
  while (GammaP(shape, high) < p) high *= 2;
  double x = start > 0 && start < high ? start : high / 2;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double error = GammaP(shape, x) - p;
    (error > 0 ? high : low) = x;
    // Newton where it stays inside the bracket, bisection elsewhere.
    const double density = std::exp((shape - 1) * std::log(x) - x - LogGamma(shape));
    const double next = density > 0 ? x - error / density : low;
    if (std::fabs(error) < 1e-13) break;
    x = next > low && next < high ? next : (low + high) / 2;
  }
  return x;
}

}  // namespace clrscope::profile
