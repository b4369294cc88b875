// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "profile/gamma.h"
#include "profile/sample_weight.h"

namespace clrscope::profile {
namespace {

// Quantiles from R: qgamma(c(0.025, 0.975), shape).
TEST(Gamma, QuantilesAgreeWithR) {
  EXPECT_NEAR(GammaQuantile(0.025, 1), 0.02531781, 1e-7);
  EXPECT_NEAR(GammaQuantile(0.975, 1), 3.68887945, 1e-7);
  EXPECT_NEAR(GammaQuantile(0.025, 3), 0.6186721, 1e-6);
  EXPECT_NEAR(GammaQuantile(0.975, 4), 8.7672730, 1e-6);
  EXPECT_NEAR(GammaQuantile(0.975, 0.5), 2.5119431, 1e-6);
  EXPECT_NEAR(GammaQuantile(0.975, 1e7) / 1e7, 1 + 1.96 / std::sqrt(1e7), 1e-6);
}

TEST(SampleWeight, FunctionsAgreeWithTheLibrary) {
  for (double x = -1e-9; x > -800; x *= 1.37)
    EXPECT_NEAR(ExpMinus1(x) / std::expm1(x), 1, 1e-14) << x;
  EXPECT_EQ(ExpMinus1(0), 0);
  for (double mean = 16; mean < 1e17; mean *= 2)
    EXPECT_NEAR(LogOfMiss(mean) / std::log1p(-1 / mean), 1, 1e-14) << mean;
}

TEST(Estimate, WeightOfAnObjectIsSizeOverItsChanceToBeSeen) {
  const double p = 1 - std::pow(1 - 1 / 102400.0, 32);
  const Estimate e = EstimateSampled(7, 32);
  EXPECT_EQ(e.samples, 7u);
  EXPECT_NEAR(e.objects, 7 / p, 1e-6 * e.objects);
  EXPECT_NEAR(e.bytes, 7 * 32 / p, 1e-6 * e.bytes);
  EXPECT_NEAR(e.var_bytes, 7 * 32.0 * 32.0 * (1 - p) / (p * p), 1e-6 * e.var_bytes);
}

TEST(Estimate, IntervalOfFewEqualWeightsIsTheExactPoissonInterval) {
  // 3 events: 95 % Poisson interval of the mean is [0.6187, 8.7673].
  const Estimate e = EstimateSampled(3, 24);
  const double weight = e.bytes / 3;
  EXPECT_NEAR(BytesInterval(e).low / weight, 0.6187, 1e-3);
  EXPECT_NEAR(BytesInterval(e).high / weight, 8.7673, 1e-3);
}

TEST(Estimate, ObjectsThatAreAlwaysSeenHaveNoError) {
  const Estimate e = EstimateSampled(4, 50e6);
  EXPECT_NEAR(e.bytes, 200e6, 1);
  EXPECT_NEAR(BytesInterval(e).low, 200e6, 1);
  EXPECT_NEAR(BytesInterval(e).high, 200e6, 1);
}

TEST(Estimate, NothingSampledStillHasAnUpperBound) {
  EXPECT_EQ(BytesInterval(Estimate{}).low, 0);
  EXPECT_NEAR(BytesInterval(Estimate{}).high, 3.68888 * 102400, 1);
}

TEST(Estimate, TickCountsObjectsOnlyWhereTheSizeIsKnown) {
  EXPECT_EQ(EstimateTick(2, 204800, 0).objects, 0);
  EXPECT_EQ(EstimateTick(2, 204800, 100).objects, 2048);
}

}  // namespace
}  // namespace clrscope::profile
