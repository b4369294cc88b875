// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/duration_scale.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace clrscope::profile {
namespace {

using Scale = DurationScale;

TEST(DurationScale, GoesUpWithTheDuration) {
  std::mt19937_64 random(1);
  uint16_t last = 0;
  for (double ns = 1; ns < 1e15; ns *= 1.0003) {
    const uint16_t step = Scale::StepOf(static_cast<int64_t>(ns));
    ASSERT_GE(step, last) << ns;
    ASSERT_LE(step, last + 1) << ns;
    last = std::max<uint16_t>(step, 1);
  }
  EXPECT_EQ(last, Scale::kLongest);
  EXPECT_EQ(Scale::StepOf(std::numeric_limits<int64_t>::max()), Scale::kLongest);
  EXPECT_EQ(Scale::StepOf(0), Scale::kShortest);
  EXPECT_EQ(Scale::StepOf(-5), Scale::kShortest);
  EXPECT_EQ(Scale::StepOf(9'999), Scale::kShortest);
  EXPECT_EQ(Scale::StepOf(10'000), Scale::kFirst);
}

TEST(DurationScale, RoundEdgesAreExact) {
  int64_t decade = 10'000;
  uint16_t want = Scale::kFirst;
  for (int d = 0; d < Scale::kDecades; ++d, decade *= 10) {
    for (const int64_t tenths : {10, 15, 20, 30, 50, 70}) {
      const int64_t ns = decade / 10 * tenths;
      EXPECT_EQ(Scale::StepOf(ns), want) << ns;
      EXPECT_EQ(Scale::StepOf(ns - 1), want - 1) << ns;
      EXPECT_EQ(Scale::Rounded(want), want);
      EXPECT_NEAR(Scale::LowNs(want), static_cast<double>(ns), 1e-9 * static_cast<double>(ns));
      want = static_cast<uint16_t>(want + Scale::kFine);
    }
  }
  EXPECT_EQ(want, Scale::kLongest);
  EXPECT_EQ(Scale::StepOf(decade), Scale::kLongest);
}

TEST(DurationScale, StepsAndDurationsAreInverse) {
  for (uint16_t step = Scale::kFirst; step < Scale::kLongest; ++step) {
    const double low = Scale::LowNs(step), high = Scale::LowNs(static_cast<uint16_t>(step + 1));
    EXPECT_GT(high, low * 1.035);
    EXPECT_LT(high, low * 1.067);
    // An edge that is no whole number may lie a nanosecond beside.
    EXPECT_EQ(Scale::StepOf(static_cast<int64_t>(low) + 2), step);
    EXPECT_EQ(Scale::StepOf(static_cast<int64_t>(high) - 2), step);
    const double middle = Scale::MiddleNs(step);
    EXPECT_LT(middle / low - 1, 0.034);
    EXPECT_LT(1 - middle / high, 0.034);
    EXPECT_EQ(Scale::StepOf(static_cast<int64_t>(middle)), step);
    EXPECT_LE(Scale::Rounded(step), step);
    EXPECT_EQ(Scale::Rounded(Scale::Rounded(step)), Scale::Rounded(step));
  }
  EXPECT_EQ(Scale::LowNs(Scale::kUnknown), 0);
  EXPECT_EQ(Scale::LowNs(Scale::kShortest), 0);
  EXPECT_GT(Scale::MiddleNs(Scale::kShortest), 0);
  EXPECT_EQ(Scale::Rounded(Scale::kUnknown), Scale::kUnknown);
  EXPECT_EQ(Scale::Rounded(Scale::kShortest), Scale::kShortest);
  // Of a damaged capture.
  EXPECT_EQ(Scale::LowNs(60'000), Scale::LowNs(Scale::kLongest));
  EXPECT_EQ(Scale::MiddleNs(60'000), Scale::LowNs(Scale::kLongest));
}

}  // namespace
}  // namespace clrscope::profile
