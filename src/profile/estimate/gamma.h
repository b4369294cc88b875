// SPDX-License-Identifier: Apache-2.0
// The gamma distribution, and the normal one: what the intervals of sampled sums rest on.
#pragma once

namespace clrscope::profile {

// Regularized lower incomplete gamma function P(shape, x); shape > 0, x >= 0.
double GammaP(double shape, double x);

// Quantile of the gamma distribution with `shape` and scale 1: x with P(shape, x) = p, 0 < p < 1.
double GammaQuantile(double p, double shape);

// The chance that a standard normal variable is above `z`.
double NormalTail(double z);

}  // namespace clrscope::profile
