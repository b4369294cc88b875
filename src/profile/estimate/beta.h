// SPDX-License-Identifier: Apache-2.0
// The incomplete beta function and what rests on it: tails of the binomial and of Student's t.
#pragma once

namespace clrscope::profile {

// Regularized incomplete beta function I_x(a, b); a, b > 0, 0 <= x <= 1.
double BetaI(double a, double b, double x);

// The x at which I_x(a, b) is `p`; 0 < p < 1.
double BetaQuantile(double a, double b, double p);

// Two-sided p-value of a binomial count `k` of `n` when each is a hit with chance `p`. Both may be
// no whole numbers: effective counts.
double BinomialPValue(double k, double n, double p);

// Two-sided p-value of Student's t with `freedom` degrees; any positive number.
double StudentPValue(double t, double freedom);

}  // namespace clrscope::profile
