// SPDX-License-Identifier: Apache-2.0
// The functions that chances are made of, without the library of mathematics.
#pragma once

namespace clrscope::profile {

// e^x - 1 for x <= 0, to a relative error below 1e-14.
double ExpMinus1(double x);

// ln(1 - 1/mean) for mean >= 10: of the chance that a byte is not hit.
constexpr double LogOfMiss(double mean) {
  // log(1 - x) = -(x + x²/2 + x³/3 + …)
  const double x = 1 / mean;
  double sum = 0;
  for (int n = 60; n >= 1; --n) sum = x * (1.0 / n + sum);
  return -sum;
}

}  // namespace clrscope::profile
