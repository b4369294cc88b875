// SPDX-License-Identifier: Apache-2.0
#include "agent/host/budget.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <string>

namespace clrscope::agent {
namespace {

using BudgetPart = profile::OverheadPart;
using BudgetStep = WindowSteps::Step;
constexpr int64_t kBudgetMs = 1'000'000, kBudgetSecond = 1'000'000'000;

// A program that uses `cpu` of a CPU and allocates so many samples a second, each of which takes
// `each` ns; looked at every 10 ms, as often as windows begin and end.
struct BudgetSimulation {
  double limit = 0.01, cpu = 1, each = 3'000;
  uint64_t seed = 1;
  std::function<double(double second)> samples = [](double) { return 20'000.0; };

  double allocated = 0, estimate = 0;  // samples that there were; that windows say
  double whole = 0;                    // … of these before windows
  int windows = 0, wholes = 0;
  profile::Overhead told;
  profile::IntervalWindows of_windows;

  void Run(int seconds) {
    Budget budget(limit, seed, 0);
    MeasureCosts costs;
    uint64_t word = SampleWindow::kAlways;
    bool on = true;
    double cpu_ns = 0, cost_at_open = 0;
    for (int64_t now = 0; now < seconds * kBudgetSecond; now += 10 * kBudgetMs) {
      const bool look = budget.Meter(costs, static_cast<int64_t>(cpu_ns), now / 1'000, now);
      switch (look ? budget.allocations().Next(budget.meter(), costs.allocations, now)
                   : BudgetStep::kNone) {
        case BudgetStep::kNone:
          break;
        case BudgetStep::kEndWhole:
        case BudgetStep::kClose:
          word = SampleWindow::kNever;
          on = false;
          break;
        case BudgetStep::kOpen:
          cost_at_open = costs.allocations;
          word = budget.allocations().Opened(cost_at_open, now, now);
          on = true;
          ++windows;
          break;
        case BudgetStep::kBeginWhole:
          budget.allocations().Restart(costs.allocations, now);
          word = SampleWindow::kAlways;
          on = true;
          ++wholes;
          break;
      }
      of_windows += budget.allocations().Take(now);
      const double n = samples(static_cast<double>(now) / kBudgetSecond) / 100;
      allocated += n;
      if (SampleWindow::Holds(word, now)) {
        const uint32_t tag = SampleWindow::TagOf(word);
        estimate += n * SampleWindow::WeightOf(tag);
        if (tag == 0) whole += n;
      }
      if (on) costs.allocations += n * each;
      cpu_ns += cpu * 10 * kBudgetMs;
    }
    told = budget.told();
  }
};

TEST(Budget, WhatIsWithinTheLimitIsSampledAllAlong) {
  BudgetSimulation s;
  s.samples = [](double) { return 1'000.0; };  // 3 of 10 ms a second
  s.Run(60);
  EXPECT_EQ(s.windows, 0);
  EXPECT_DOUBLE_EQ(s.estimate, s.allocated);
  EXPECT_NEAR(s.told.share(), 0.004, 2e-4);  // and the agent's own
}

TEST(Budget, AFastAllocatorEndsAtTheLimit) {
  for (const double limit : {0.005, 0.01, 0.02, 0.03}) {
    BudgetSimulation s;
    s.limit = limit;
    s.cpu = 1.5;
    s.Run(120);
    EXPECT_GT(s.windows, 20) << limit;
    EXPECT_LT(s.told.share(), 1.15 * limit) << limit;
    EXPECT_GT(s.told.share(), 0.6 * limit) << limit;
    // One may still be open.
    EXPECT_NEAR(static_cast<double>(s.told.windows_of(BudgetPart::kAllocations).windows), s.windows,
                1);
  }
}

TEST(Budget, WindowsEndWhereLittleIsAllocatedAgain) {
  BudgetSimulation s;
  s.samples = [](double second) { return second < 20 ? 20'000.0 : 100.0; };
  s.Run(120);
  EXPECT_GE(s.wholes, 1);
  EXPECT_GT(s.whole, 0);
}

// What windows hold, times what they stand for, is what there was: on average, whatever the program
// does, and with the period that follows from it.
TEST(Budget, WeightsOfWindowsAreUnbiased) {
  constexpr int kRuns = 300, kSeconds = 40;
  const std::function<double(double)> programs[] = {
      [](double) { return 20'000.0; },
      [](double second) { return std::fmod(second, 5) < 1 ? 60'000.0 : 2'000.0; },
      [](double second) { return 5'000.0 + 1'000.0 * second; }};
  for (size_t p = 0; p < std::size(programs); ++p) {
    double sum = 0, squares = 0;
    for (int run = 0; run < kRuns; ++run) {
      BudgetSimulation s;
      s.seed = static_cast<uint64_t>(run) * 2 + 1;
      s.limit = 0.03;
      s.samples = programs[p];
      s.Run(kSeconds);
      const double off = s.estimate / s.allocated - 1;
      sum += off / kRuns;
      squares += off * off / kRuns;
    }
    const double error = std::sqrt((squares - sum * sum) / kRuns);
    // Its slots begin with whole milliseconds.
    EXPECT_NEAR(sum, 0, 4 * error + 0.002) << p;
  }
}

// Scaled to the time in which there were windows, a steady program's total is right to the few
// percent that a window's own beginning is uncertain by in this simulation.
TEST(Budget, ScaledToTheirTimeWindowsAreSteady) {
  BudgetSimulation s;
  s.limit = 0.03;
  s.Run(60);
  ASSERT_GT(s.of_windows.count, 8u);
  EXPECT_NEAR(s.of_windows.all_of_ns() / static_cast<double>(s.of_windows.ns), 1, 0.35);
  const double of_windows = (s.estimate - s.whole) * s.of_windows.factor();
  EXPECT_NEAR((s.whole + of_windows) / s.allocated, 1, 0.13);
}

TEST(Budget, StatusTellsItAll) {
  BudgetSimulation s;
  Budget budget(0.01, 1, 0);
  MeasureCosts costs;
  (void)budget.Meter(costs, 0, 0, 0);
  costs.allocations = 5e6;
  (void)budget.Meter(costs, kBudgetSecond, 2'000'000, kBudgetSecond);
  EXPECT_EQ(
      budget.Json(),
      "{\"limit\":0.01,\"share\":0.007,\"program_cpu_s\":1,\"parts\":[{\"part\":\"allocations\","
      "\"cpu_s\":0.005,\"share\":0.005,\"windows\":0,\"windows_s\":0,\"of_s\":0},{\"part\":"
      "\"agent\",\"cpu_s\":0.002,\"share\":0.002,\"windows\":0,\"windows_s\":0,\"of_s\":0}]}");
}

TEST(CostsOf, OwnTimeAndTheEventsPrice) {
  ShardTotals t;
  t.samples = 10;
  t.frames = 200;
  t.nanoseconds = 9'000;
  EXPECT_DOUBLE_EQ(CostsOf(t).allocations, 9'000 + 10 * (1'500 + 20 * 100));
  t.outside = 5;  // their stacks were made, too
  EXPECT_DOUBLE_EQ(CostsOf(t).allocations, 9'000 + 15 * (1'500 + 20 * 100));
  // A thread that lost its CPU within a sample.
  t.nanoseconds = 1'000'000'000;
  EXPECT_DOUBLE_EQ(CostsOf(t).allocations, 10 * 20'000 + 15 * (1'500 + 20 * 100));
  ShardTotals e;
  e.events = 7;
  e.event_ns = 10'000;
  e.throws = 3;
  e.throw_ns = 6'000;
  e.throw_frames = 30;
  EXPECT_DOUBLE_EQ(CostsOf(e).throws, 6'000 + 3 * (2'500 + 10 * 100));
  EXPECT_DOUBLE_EQ(CostsOf(e).waits, 4'000 + 4 * 7'600);
}

}  // namespace
}  // namespace clrscope::agent
