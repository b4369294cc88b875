// SPDX-License-Identifier: Apache-2.0
#include "profile/overhead/budget_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <vector>

namespace clrscope::profile {
namespace {

constexpr int64_t kPlanMs = 1'000'000, kPlanSecond = 1'000'000'000;

// Looked at ten times a second.
std::vector<BudgetPlan::Window> PlannedWindows(
    uint64_t seed, int seconds, const std::function<int64_t(int64_t now_ns)>& period) {
  BudgetPlan plan(seed);
  plan.Restart(0);
  std::vector<BudgetPlan::Window> out;
  for (int64_t now = 0; now < seconds * kPlanSecond; now += 100 * kPlanMs)
    if (const auto w = plan.Next(now, period(now))) out.push_back(*w);
  return out;
}

TEST(BudgetPlan, APeriodIsWhatAWindowCostsOverWhatIsAllowed) {
  // 100 ms at 100 ms a second, and the session: 11.5 ms.
  EXPECT_EQ(BudgetPlan::Period(100e6, 11.5e6), kPlanSecond);
  EXPECT_EQ(BudgetPlan::Period(100e6, 5.75e6), 2 * kPlanSecond);
  EXPECT_EQ(BudgetPlan::Period(1e6, 1e9), BudgetPlan::kShortestNs);
  EXPECT_EQ(BudgetPlan::Period(1e9, 1), BudgetPlan::kLongestNs);
  EXPECT_EQ(BudgetPlan::Period(1e9, 0), BudgetPlan::kLongestNs);
}

TEST(BudgetPlan, WindowsAreLongWhereThatIsCheap) {
  // 1 s at 10 ms a second, and the session: 11.5 ms in two seconds.
  EXPECT_EQ(BudgetPlan::Longest(10e6, 5.75e6), BudgetPlan::LengthOf(10));
  EXPECT_EQ(BudgetPlan::Longest(10e6, 4e6), BudgetPlan::LengthOf(6));
  EXPECT_EQ(BudgetPlan::Longest(1e9, 1e6), BudgetPlan::kLengthNs);
  EXPECT_EQ(BudgetPlan::LengthOf(1), BudgetPlan::kLengthNs);
  EXPECT_EQ(BudgetPlan::Period(0, 1e9, BudgetPlan::LengthOf(10)), 2 * BudgetPlan::LengthOf(10));
}

// Used by chance, each stands for as much more as it is rarely used.
TEST(BudgetPlan, WindowsThatOthersBringStandForAllTime) {
  BudgetPlan plan(5);
  EXPECT_EQ(plan.Ride(3 * kPlanSecond, kPlanSecond), 3 * kPlanSecond);
  constexpr int kWindows = 4000;
  double of = 0;
  for (int i = 0; i < kWindows; ++i)
    of += static_cast<double>(plan.Ride(kPlanSecond, 4 * kPlanSecond)) / kPlanSecond;
  // A binomial count of chance 1/4, four times over.
  EXPECT_NEAR(of, kWindows, 4 * 4 * std::sqrt(kWindows * 0.25 * 0.75));
}

TEST(BudgetPlan, EachPeriodHasOneWindowAtARandomTime) {
  const auto windows = PlannedWindows(7, 320, [](int64_t) { return 2 * kPlanSecond; });
  ASSERT_NEAR(static_cast<double>(windows.size()), 160, 1);
  double part = 0;
  for (size_t i = 0; i < windows.size(); ++i) {
    const int64_t within =
        windows[i].begin_ns - BudgetPlan::kAheadNs - static_cast<int64_t>(i) * 2 * kPlanSecond;
    EXPECT_GE(within, 0) << i;
    EXPECT_LT(within, 2 * kPlanSecond) << i;
    part += static_cast<double>(within) / (2.0 * kPlanSecond) / static_cast<double>(windows.size());
    EXPECT_EQ(windows[i].of_ns, 2 * kPlanSecond);
    EXPECT_EQ(windows[i].length_ns, BudgetPlan::kLengthNs);
  }
  // Four standard errors of a uniform mean.
  EXPECT_NEAR(part, 0.5, 4 / std::sqrt(12.0 * static_cast<double>(windows.size())));
}

TEST(BudgetPlan, SixteenWindowsInARowAreOfSixteenGroups) {
  const auto windows = PlannedWindows(3, 40, [](int64_t) { return kPlanSecond; });
  ASSERT_GE(windows.size(), 32u);
  std::set<uint64_t> groups;
  for (size_t i = 16; i < 32; ++i) groups.insert(windows[i].group);
  EXPECT_EQ(groups.size(), 16u);
}

// What a window stands for is the time that it had to be expected in: together all of it.
TEST(BudgetPlan, WindowsStandForAllTimeWhateverPeriodsBecome) {
  constexpr int kSeconds = 60, kPlanRuns = 400;
  const auto period = [](int64_t now) {
    return now < 5 * kPlanSecond    ? 10 * kPlanSecond
           : now < 30 * kPlanSecond ? kPlanSecond
                                    : 3 * kPlanSecond;
  };
  double all = 0, early = 0, squares = 0;
  for (int run = 0; run < kPlanRuns; ++run) {
    double of = 0;
    for (const auto& w : PlannedWindows(static_cast<uint64_t>(run) + 1, kSeconds, period)) {
      of += static_cast<double>(w.of_ns) / kPlanSecond;
      if (w.begin_ns - BudgetPlan::kAheadNs < 5 * kPlanSecond)
        early += static_cast<double>(w.of_ns) / kPlanSecond / kPlanRuns;
    }
    all += of / kPlanRuns;
    squares += (of - kSeconds) * (of - kSeconds) / kPlanRuns;
  }
  const double error = std::sqrt(squares / kPlanRuns);
  EXPECT_NEAR(all, kSeconds, 4 * error + 0.1);
  // Half of the runs have one in the first five seconds, which stands for ten.
  EXPECT_NEAR(early, 5, 4 * 5 / std::sqrt(kPlanRuns));
}

}  // namespace
}  // namespace clrscope::profile
