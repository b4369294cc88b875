// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/beta.h"

#include <gtest/gtest.h>

#include <cmath>

namespace clrscope::profile {
namespace {

TEST(BetaI, AgreesWithClosedForms) {
  // I_x(1, b) = 1 - (1-x)^b, I_x(a, 1) = x^a, and symmetry.
  for (const double x : {0.01, 0.3, 0.5, 0.77, 0.99})
    for (const double s : {0.5, 1.0, 2.5, 40.0, 3000.0}) {
      EXPECT_NEAR(BetaI(1, s, x), 1 - std::pow(1 - x, s), 1e-12);
      EXPECT_NEAR(BetaI(s, 1, x), std::pow(x, s), 1e-12);
      EXPECT_NEAR(BetaI(s, 7, x), 1 - BetaI(7, s, 1 - x), 1e-12);
    }
  EXPECT_EQ(BetaI(2, 3, 0), 0);
  EXPECT_EQ(BetaI(2, 3, 1), 1);
}

TEST(BinomialPValue, IsTheSumOfTheTail) {
  // At least 9 of 10 tosses of a fair coin: 11/1024, on both sides 22/1024.
  EXPECT_NEAR(BinomialPValue(9, 10, 0.5), 22.0 / 1024, 1e-12);
  EXPECT_NEAR(BinomialPValue(1, 10, 0.5), 22.0 / 1024, 1e-12);
  EXPECT_EQ(BinomialPValue(5, 10, 0.5), 1);
  EXPECT_EQ(BinomialPValue(0, 0, 0.5), 1);
  // None of 20 at 0.3: 0.7^20.
  EXPECT_NEAR(BinomialPValue(0, 20, 0.3), 2 * std::pow(0.7, 20), 1e-12);
  // Large counts: the normal law. 51,000 of 100,000 are 6.32 standard errors off.
  EXPECT_NEAR(std::log(BinomialPValue(51'000, 100'000, 0.5)),
              std::log(std::erfc((1000 - 0.5) / std::sqrt(25'000.0) / std::sqrt(2.0))), 0.01);
}

TEST(StudentPValue, AgreesWithTables) {
  EXPECT_NEAR(StudentPValue(12.706, 1), 0.05, 1e-5);
  EXPECT_NEAR(StudentPValue(-2.776, 4), 0.05, 1e-4);
  EXPECT_NEAR(StudentPValue(1.96, 1e9), 0.05, 1e-5);
  EXPECT_EQ(StudentPValue(0, 3), 1);
}

}  // namespace
}  // namespace clrscope::profile
