// SPDX-License-Identifier: Apache-2.0
// Rounding keeps totals.
#include "base/round_to_total.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace clrscope {
namespace {

int64_t Sum(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

TEST(RoundToTotalTest, ManySmallWeightsKeepTheirSum) {
  const std::vector<double> values(1000, 0.3);
  EXPECT_EQ(Sum(RoundToTotal(values)), 300);
}

TEST(RoundToTotalTest, LargestRemaindersAreRoundedUp) {
  const std::vector<double> values{1.2, 2.9, 3.4, 0.5};  // 8.0 in all
  EXPECT_EQ(RoundToTotal(values), (std::vector<int64_t>{1, 3, 3, 1}));
}

TEST(RoundToTotalTest, EqualRemaindersGoToTheEarlierOne) {
  const std::vector<double> values{0.5, 0.5, 0.5, 0.5};
  EXPECT_EQ(RoundToTotal(values), (std::vector<int64_t>{1, 1, 0, 0}));
}

TEST(RoundToTotalTest, EachMovesByLessThanOneAndTheSumIsTheRoundedSum) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(0, 36);
  std::vector<double> values(5000);
  long double exact = 0;
  for (double& v : values) {
    v = std::exp2(exponent(random));
    exact += static_cast<long double>(v);
  }
  const std::vector<int64_t> rounded = RoundToTotal(values);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_LT(std::abs(static_cast<double>(rounded[i]) - values[i]), 1.0);
  }
  EXPECT_EQ(Sum(rounded), std::llroundl(exact));
}

TEST(RoundToTotalTest, NothingAndNonsenseCountAsZero) {
  EXPECT_TRUE(RoundToTotal({}).empty());
  const std::vector<double> values{-1.0, std::numeric_limits<double>::quiet_NaN(), 2.0};
  EXPECT_EQ(RoundToTotal(values), (std::vector<int64_t>{0, 0, 2}));
}

}  // namespace
}  // namespace clrscope
