// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "profile/estimate/gamma.h"
#include "profile/estimate/sample_weight.h"

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

// Of shape 1 the law is the exponential one. Tails from R: pnorm(-c(1, 1.959964, 4)).
TEST(Gamma, QuantilesOfOtherTails) {
  for (const double shape : {0.3, 1.0, 7.0, 300.0})
    for (const double p : {0.001, 0.041, 0.9, 0.999})
      EXPECT_NEAR(GammaP(shape, GammaQuantile(p, shape)), p, 1e-10) << shape << " " << p;
  EXPECT_NEAR(GammaQuantile(0.041, 1), -std::log1p(-0.041), 1e-10);
  EXPECT_NEAR(GammaQuantile(0.9, 1), -std::log(0.1), 1e-9);
  EXPECT_NEAR(NormalTail(1), 0.158655254, 1e-9);
  EXPECT_NEAR(NormalTail(1.959963984540054), 0.025, 1e-12);
  EXPECT_NEAR(NormalTail(4), 3.167124e-5, 1e-11);
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
  EXPECT_NEAR(e.count, 7 / p, 1e-6 * e.count);
  EXPECT_NEAR(e.amount, 7 * 32 / p, 1e-6 * e.amount);
  EXPECT_NEAR(e.var_amount, 7 * 32.0 * 32.0 * (1 - p) / (p * p), 1e-6 * e.var_amount);
}

TEST(Estimate, IntervalOfFewEqualWeightsIsTheExactPoissonInterval) {
  // 3 events: 95 % Poisson interval of the mean is [0.6187, 8.7673].
  const Estimate e = EstimateSampled(3, 24);
  const double weight = e.amount / 3;
  EXPECT_NEAR(AmountInterval(e).low / weight, 0.6187, 1e-3);
  EXPECT_NEAR(AmountInterval(e).high / weight, 8.7673, 1e-3);
}

// The number of objects of `size` that have no sample with a chance of 2 %.
double Unlikely(double size, double mean) { return std::log(0.02) / std::log(1 - size / mean); }

TEST(Estimate, SmallObjectsMayHideBehindSamplesOfSizesThatDiffer) {
  // 60 samples of about 700 objects of 9 and 10 KB. Nothing tells of small ones.
  Estimate e = EstimateSampled(30, 9'000);
  e += EstimateSampled(30, 10'000);
  const double hidden = Unlikely(24, kSamplingMeanBytes);
  EXPECT_NEAR(hidden, 16'689, 5);
  EXPECT_GT(CountInterval(e).high, e.count + hidden);
  // The two errors are added as independent ones are.
  const Interval one_size = CountInterval(EstimateSampled(60, 9'474));
  EXPECT_LT(CountInterval(e).high, one_size.high + hidden);
  // What is spared at the upper end brings the lower end closer, and it stays below.
  EXPECT_GT(CountInterval(e).low, one_size.low);
  EXPECT_LT(CountInterval(e).low, e.count * 0.9);
  // Nothing hides in bytes: 3.69 samples of small objects weigh no more than 3.69 of large ones.
  EXPECT_LT(AmountInterval(e).high, e.amount * 1.4);
}

TEST(Estimate, NothingSmallHidesOnTheLargeObjectHeap) {
  Estimate e = EstimateSampled(4, 4.0 * 90'000);
  e += EstimateSampled(5, 5.0 * 2'000'000);
  const Interval anywhere = CountInterval(e), loh = CountInterval(e, HeapKind::kLoh);
  EXPECT_GT(anywhere.high, 10'000);
  EXPECT_LT(loh.high, 25);
  EXPECT_EQ(loh.low, anywhere.low);
}

// 3,000 objects of 40 bytes, of which 1.2 samples are expected, behind 700 samples of large ones.
// Of R runs a coverage has a standard error of sqrt(0.07 * 0.93 / R); three of them are allowed
// below 93 % and above 97 %.
TEST(Estimate, IntervalsCoverWhatIsSeldomSeen) {
  struct Class {
    double size;
    int64_t objects;
  };
  constexpr Class kClasses[] = {{40, 3'000}, {4'120, 8'000}, {65'560, 800}};
  constexpr int kRuns = 1'000;
  const double slack = 3 * std::sqrt(0.07 * 0.93 / kRuns);
  std::mt19937_64 random(42);
  Estimate truth;
  for (const Class& c : kClasses) {
    truth.count += static_cast<double>(c.objects);
    truth.amount += static_cast<double>(c.objects) * c.size;
  }
  double objects = 0, bytes = 0;
  for (int run = 0; run < kRuns; ++run) {
    Estimate e;
    for (const Class& c : kClasses) {
      std::binomial_distribution<int64_t> seen(c.objects, HitProbability(c.size));
      if (const int64_t n = seen(random)) e += EstimateSampled(static_cast<uint64_t>(n), c.size);
    }
    const Interval o = CountInterval(e), b = AmountInterval(e);
    objects += truth.count >= o.low && truth.count <= o.high ? 1.0 / kRuns : 0;
    bytes += truth.amount >= b.low && truth.amount <= b.high ? 1.0 / kRuns : 0;
  }
  EXPECT_GE(objects, 0.93 - slack);
  EXPECT_LE(objects, 0.97 + slack);
  EXPECT_GE(bytes, 0.93 - slack);
  EXPECT_LE(bytes, 0.97 + slack);
}

// A site's arrays of 70 KB, of which ten samples are expected, and 1,800 small ones of which 0.9
// are: in 40 % of all runs its samples have one size. That its type has several is known from
// elsewhere.
TEST(Estimate, WhatARowHidesIsKnownFromTheRestOfItsType) {
  constexpr int kRuns = 2'000;
  constexpr int64_t kLarge = 20, kSmall = 1'800;
  std::mt19937_64 random(7);
  double alone = 0, known = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::binomial_distribution<int64_t> large(kLarge, HitProbability(70'104));
    std::binomial_distribution<int64_t> small(kSmall, HitProbability(52));
    Estimate e;
    if (const int64_t n = large(random)) e += EstimateSampled(static_cast<uint64_t>(n), 70'104);
    if (const int64_t n = small(random)) e += EstimateSampled(static_cast<uint64_t>(n), 52);
    const auto covers = [&] {
      const Interval i = CountInterval(e);
      return i.low <= kLarge + kSmall && i.high >= kLarge + kSmall ? 1.0 / kRuns : 0;
    };
    alone += covers();
    e.many_sizes = true;
    known += covers();
  }
  EXPECT_LT(alone, 0.7);
  EXPECT_GE(known, 0.93 - 3 * std::sqrt(0.07 * 0.93 / kRuns));
}

TEST(Estimate, OneSampleOfATypeOfManySizesMayHideOthers) {
  Estimate e = EstimateSampled(1, 60'000);
  EXPECT_LT(CountInterval(e).high, 15);
  e.many_sizes = true;
  EXPECT_GT(CountInterval(e).high, 16'000);
  EXPECT_LT(CountInterval(e, HeapKind::kLoh).high, 20);
  EXPECT_NEAR(AmountInterval(e).high, AmountInterval(EstimateSampled(1, 60'000)).high, 1);
}

// Where others of the type differ in size, the lower end takes nearly 5 % in place of 2.5 %.
TEST(Estimate, TheLowerEndTakesWhatTheUpperOneSpares) {
  Estimate e = EstimateSampled(4'000, 9'600);
  const Interval one_size = CountInterval(e);
  e.many_sizes = true;
  const Interval many = CountInterval(e);
  const double sigma = std::sqrt(e.var_count);
  // Normal quantiles of 2.5 and 5 %: 1.960 and 1.645.
  EXPECT_NEAR((e.count - one_size.low) / sigma, 1.960, 0.03);
  EXPECT_NEAR((e.count - many.low) / sigma, 1.645, 0.03);
}

TEST(Estimate, ASumIsOfManySizesWhenAPartIs) {
  Estimate part = EstimateSampled(2, 100), sum = EstimateSampled(3, 100);
  sum += part;
  EXPECT_FALSE(sum.many_sizes);
  part.many_sizes = true;
  sum += part;
  sum += EstimateSampled(1, 100);
  EXPECT_TRUE(sum.many_sizes);
}

TEST(Estimate, ObjectsOfOneSizeHideNothing) {
  const Estimate e = EstimateSampled(60, 9'000);
  EXPECT_LT(CountInterval(e).high, e.count * 1.4);
}

TEST(Estimate, SamplesThatAreThinnedHideMore) {
  Estimate e = EstimateSampled(20, 9'000, 4 * kSamplingMeanBytes);
  e += EstimateSampled(20, 10'000, 4 * kSamplingMeanBytes);
  EXPECT_GT(CountInterval(e).high, e.count + Unlikely(24, 4 * kSamplingMeanBytes));
  EXPECT_LT(CountInterval(e).high, e.count + 1.1 * Unlikely(24, 4 * kSamplingMeanBytes));
}

TEST(Estimate, WhatMayHideIsLittleBesideManySmallObjects) {
  Estimate e = EstimateSampled(5'000, 40);
  e += EstimateSampled(5'000, 80);
  const Interval i = CountInterval(e);
  const double error = 1.96 * std::sqrt(e.var_count);
  EXPECT_NEAR(i.high, e.count + error, 0.03 * error);
  EXPECT_NEAR(i.low, e.count - error, 0.03 * error);
}

TEST(Estimate, ObjectsThatAreAlwaysSeenHaveNoError) {
  const Estimate e = EstimateSampled(4, 50e6);
  EXPECT_NEAR(e.amount, 200e6, 1);
  EXPECT_NEAR(AmountInterval(e).low, 200e6, 1);
  EXPECT_NEAR(AmountInterval(e).high, 200e6, 1);
}

TEST(Estimate, NothingSampledStillHasAnUpperBound) {
  EXPECT_EQ(AmountInterval(Estimate{}).low, 0);
  EXPECT_NEAR(AmountInterval(Estimate{}).high, 3.68888 * 102400, 1);
}

TEST(Estimate, TickCountsObjectsOnlyWhereTheSizeIsKnown) {
  EXPECT_EQ(EstimateTick(2, 204800, 0).count, 0);
  EXPECT_EQ(EstimateTick(2, 204800, 100).count, 2048);
}

}  // namespace
}  // namespace clrscope::profile
