// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/live/agent_windows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "profile/estimate/estimate.h"
#include "profile/overhead/budget_plan.h"

namespace clrscope::analysis {
namespace {

using profile::Estimate;

constexpr int64_t kStepNs = 10'000'000, kWindowSteps = 9;
constexpr double kStepS = 0.01, kWindowS = 0.09, kSize = 4'000;

struct WindowedRun {
  double truth = 0;
  Estimate estimate;
};

// Bytes that a program allocates in objects of one size, sampled in windows of which each period
// has one. `rate`: objects a second, at a time.
WindowedRun RunInWindows(uint64_t seed, double seconds, double period_s,
                         const std::function<double(double)>& rate) {
  profile::BudgetPlan plan(seed);
  plan.Restart(0);
  std::mt19937_64 random(seed * 7 + 3);
  const auto period_ns = static_cast<int64_t>(period_s * 1e9);
  const double chance = profile::HitProbability(kSize), weight = period_s / kWindowS;
  profile::IntervalWindows windows;
  std::array<Estimate, profile::kGroups> of_group;
  WindowedRun run;
  int64_t ends = 0;
  size_t group = 0;
  for (int64_t step = 0; step < static_cast<int64_t>(seconds / kStepS); ++step) {
    const double at = static_cast<double>(step) * kStepS;
    const auto objects = std::poisson_distribution<int>(rate(at) * kStepS)(random);
    run.truth += objects * kSize;
    const int64_t now_ns = step * kStepNs;
    windows.ns = now_ns;
    if (const auto w = plan.Next(now_ns, period_ns)) {
      ends = step + kWindowSteps;
      group = w->group - 1;
      ++windows.count;
      windows.of_ns[group] += w->of_ns;
    }
    if (step >= ends || objects == 0) continue;
    const auto samples = std::binomial_distribution<int>(objects, chance)(random);
    if (samples > 0)
      of_group[group] +=
          StandingFor(profile::EstimateSampled(static_cast<uint64_t>(samples), kSize), weight);
  }
  const AgentWindows scaled(windows);
  for (size_t g = 0; g < profile::kGroups; ++g)
    run.estimate += scaled.Of(of_group[g], static_cast<uint8_t>(g + 1));
  return run;
}

// Of 400 intervals of 95 %, 372 and more hold the truth but for once in 20 (binomial, 1.64 standard
// errors); that they are only about right for few windows is allowed for.
void CheckCoverage(double seconds, double period_s, const std::function<double(double)>& rate,
                   double most_off) {
  constexpr int kRuns = 400;
  int inside = 0;
  double off = 0;
  for (int run = 1; run <= kRuns; ++run) {
    const WindowedRun r = RunInWindows(static_cast<uint64_t>(run), seconds, period_s, rate);
    const profile::Interval i = AmountInterval(r.estimate);
    inside += i.low <= r.truth && r.truth <= i.high ? 1 : 0;
    off += (r.estimate.amount / r.truth - 1) / kRuns;
  }
  EXPECT_GE(inside, kRuns * 0.9);
  EXPECT_LT(std::abs(off), most_off);
}

TEST(AgentWindows, ASteadyProgramIsInsideItsInterval) {
  CheckCoverage(
      60, 2, [](double) { return 20'000.0; }, 0.02);
}

TEST(AgentWindows, SoIsOneThatAllocatesInBursts) {
  CheckCoverage(
      80, 1, [](double s) { return std::fmod(s, 3.7) < 0.6 ? 60'000.0 : 500.0; }, 0.06);
}

TEST(AgentWindows, SoIsOneOfFewWindows) {
  CheckCoverage(
      30, 2.5, [](double s) { return 5'000 + 800 * s; }, 0.04);
}

// Two or three windows, which by chance stand for more or for less than the time.
TEST(AgentWindows, AndOneOfNextToNone) {
  CheckCoverage(
      10, 3.5, [](double) { return 20'000.0; }, 0.02);
}

TEST(AgentWindows, OfOneWindowItIsOpenHowMuchThereIs) {
  profile::IntervalWindows w;
  w.ns = 16'000'000'000;
  w.count = 1;
  w.of_ns[3] = 4'000'000'000;
  const Estimate e =
      AgentWindows(w).Of(StandingFor(profile::EstimateSampled(100, kSize), 4 / kWindowS), 4);
  const profile::Interval i = AmountInterval(e);
  EXPECT_DOUBLE_EQ(e.amount,
                   StandingFor(profile::EstimateSampled(100, kSize), 4 / kWindowS).amount);
  EXPECT_DOUBLE_EQ(i.low, e.seen_amount);
  EXPECT_GT(i.high, 5 * e.amount);
  EXPECT_LT(i.high, 6 * e.amount);
}

TEST(AgentWindows, WhatWasSampledAllAlongStandsForItself) {
  const AgentWindows none{profile::IntervalWindows()};
  const Estimate e = profile::EstimateSampled(12, kSize);
  EXPECT_EQ(none.Of(e, 0).amount, e.amount);
  EXPECT_EQ(none.Of(e, 0).var_amount, e.var_amount);
  EXPECT_EQ(none.Of(e, 0).windows.get(), nullptr);
}

// Rows of any view have the error of their own sum: groups add up.
TEST(AgentWindows, AllGroupsTogetherAreTheTime) {
  profile::IntervalWindows w;
  w.ns = 32'000'000'000;
  w.count = 16;
  for (int64_t& ns : w.of_ns) ns = 2'000'000'000;
  const AgentWindows scaled(w);
  Estimate sum;
  for (uint8_t g = 1; g <= profile::kGroups; ++g)
    sum += scaled.Of(StandingFor(profile::EstimateSampled(100, kSize), 20), g);
  // The same in each group: nothing changes without any of them.
  ASSERT_NE(sum.windows.get(), nullptr);
  EXPECT_LT(std::sqrt(profile::WindowGroups::Variance(sum.windows.get()->amount)),
            1e-5 * sum.amount);
}

}  // namespace
}  // namespace clrscope::analysis
