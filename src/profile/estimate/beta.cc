// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/beta.h"

#include <algorithm>
#include <cmath>

namespace clrscope::profile {
namespace {

// The continued fraction of I_x(a, b) by Lentz's method; converges fast for x < (a+1)/(a+b+2).
// Source: NIST Digital Library of Mathematical Functions 8.17.22
double Fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300, kEnough = 1e-15;
  constexpr int kMaxTerms = 20'000;  // some √max(a, b) are needed
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double f = d;
  for (int m = 1; m <= kMaxTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    f *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    const double step = d * c;
    f *= step;
    if (std::abs(step - 1) < kEnough) break;
  }
  return f;
}

}  // namespace

double BetaI(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * Fraction(a, b, x) / a;
  return 1 - front * Fraction(b, a, 1 - x) / b;
}

double BetaQuantile(double a, double b, double p) {
  double low = 0, high = 1;
  constexpr int kSteps = 60;  // of halving: as exact as a double
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    (BetaI(a, b, middle) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

double BinomialPValue(double k, double n, double p) {
  if (n <= 0) return 1;
  const double at_least = k <= 0 ? 1 : BetaI(k, n - k + 1, p);
  const double at_most = k >= n ? 1 : BetaI(n - k, k + 1, 1 - p);
  return std::min(1.0, 2 * std::min(at_least, at_most));
}

double StudentPValue(double t, double freedom) {
  return BetaI(freedom / 2, 0.5, freedom / (freedom + t * t));
}

}  // namespace clrscope::profile
