// SPDX-License-Identifier: Apache-2.0
// The gamma distribution: what the intervals of sampled sums rest on.
#pragma once

namespace clrscope::profile {

// Regularized lower incomplete gamma function P(shape, x); shape > 0, x >= 0.
double GammaP(double shape, double x);

// Quantile of the gamma distribution with `shape` and scale 1: x with P(shape, x) = p, 0 < p < 1.
double GammaQuantile(double p, double shape);

}  // namespace clrscope::profile
