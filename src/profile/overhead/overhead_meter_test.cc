// SPDX-License-Identifier: Apache-2.0
#include "profile/overhead/overhead_meter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace clrscope::profile {
namespace {

using Part = OverheadMeter::Part;
constexpr int64_t kSecondNs = 1'000'000'000;

// A program that uses `cpu` of a CPU, whose allocations would take `full` of a CPU if all were
// recorded: everything until the meter says that it is too much, then a window in each second.
Overhead Simulate(OverheadMeter& meter, double cpu, double full, double fixed, int seconds) {
  constexpr int kPerSecond = 10;
  constexpr int64_t kStep = kSecondNs / kPerSecond;
  bool whole = true;
  meter.OnCpu(0, 0);
  for (int i = 1; i <= seconds * kPerSecond; ++i) {
    const int64_t now = i * kStep;
    meter.Spend(Part::kClrscope, fixed * kStep);
    meter.Demand(Part::kAllocations, full * 1e9);
    if (whole) {
      meter.Spend(Part::kAllocations, full * kStep);
      whole = !meter.Overdrawn(Part::kAllocations);
    } else if (i % kPerSecond == 0) {
      const double share = std::min(1.0, meter.Allowed(Part::kAllocations) / (full * 1e9));
      meter.Spend(Part::kAllocations, share * full * kSecondNs);
      meter.OnWindow(Part::kAllocations, std::llround(share * kSecondNs), kSecondNs);
    }
    meter.OnCpu(now, std::llround(cpu * static_cast<double>(now)));
  }
  return meter.told();
}

TEST(OverheadMeter, WhatIsWithinTheLimitIsRecordedWhole) {
  OverheadMeter meter(0.01);
  Overhead o = Simulate(meter, 1, 0.004, 0.001, 60);
  EXPECT_EQ(o.windows_of(Part::kAllocations).windows, 0u);
  EXPECT_NEAR(o.share(), 0.005, 1e-4);
}

TEST(OverheadMeter, ASteadyProgramEndsAtTheLimit) {
  for (const double full : {0.05, 0.13, 0.6}) {
    OverheadMeter meter(0.01);
    Overhead o = Simulate(meter, 1.5, full, 0.002, 60);
    EXPECT_GT(o.windows_of(Part::kAllocations).windows, 40u) << full;
    EXPECT_LE(o.share(), 0.011) << full;
    EXPECT_GE(o.share(), 0.007) << full;
  }
}

TEST(OverheadMeter, AnIdleProgramIsNotThinnedToNothing) {
  OverheadMeter meter(0.01);
  meter.OnCpu(0, 0);
  for (int i = 1; i <= 30; ++i) meter.OnCpu(i * kSecondNs, 0);
  EXPECT_DOUBLE_EQ(meter.cpu_per_second(), OverheadMeter::kFloorNsPerSecond);
  EXPECT_NEAR(meter.Allowed(Part::kAllocations), 0.01 * OverheadMeter::kFloorNsPerSecond, 1);
}

TEST(OverheadMeter, WhatCannotBeThinnedLeavesAThird) {
  OverheadMeter meter(0.01);
  meter.OnCpu(0, 0);
  for (int i = 1; i <= 60; ++i) {
    meter.Spend(Part::kWaits, 0.05 * kSecondNs);
    meter.OnCpu(i * kSecondNs, i * kSecondNs);
  }
  EXPECT_NEAR(meter.Allowed(Part::kAllocations), 0.01 / 3 * kSecondNs, 1e3);
}

TEST(OverheadMeter, OneThatNeedsLittleLeavesTheRestToTheOther) {
  OverheadMeter meter(0.01);
  meter.OnCpu(0, 0);
  meter.OnCpu(kSecondNs, kSecondNs);
  meter.Demand(Part::kExceptions, 1e6);
  meter.Demand(Part::kAllocations, 1e9);
  EXPECT_NEAR(meter.Allowed(Part::kAllocations), 9e6, 1);
  EXPECT_TRUE(meter.Affordable(Part::kExceptions));
  EXPECT_FALSE(meter.Affordable(Part::kAllocations));
}

TEST(OverheadMeter, WhatSeveralNeedIsSharedWithoutRest) {
  OverheadMeter meter(0.01);
  meter.OnCpu(0, 0);
  meter.OnCpu(kSecondNs, kSecondNs);
  meter.Demand(Part::kExceptions, 1e6);
  meter.Demand(Part::kAllocations, 1e9);
  meter.Demand(Part::kRequests, 1e9);
  // 1 of 10 ms is enough for one; the others have the half of what is left each.
  EXPECT_NEAR(meter.Share(Part::kAllocations), 4.5e6, 1);
  EXPECT_NEAR(meter.Share(Part::kRequests), 4.5e6, 1);
  meter.Demand(Part::kRequests, 3.5e6);
  EXPECT_NEAR(meter.Share(Part::kAllocations), 5.5e6, 1);
  // What one that needs little could have: a third.
  EXPECT_NEAR(meter.Share(Part::kExceptions), 10e6 - 5e6 - 3.5e6, 2e6);
}

// The agent keeps a limit of its own: what it took is told with the rest, and is not there for
// sessions.
TEST(OverheadMeter, WhatIsSpentElsewhereIsTakenOffFirst) {
  OverheadMeter meter(0.03);
  meter.OnCpu(0, 0);
  for (int i = 1; i <= 60; ++i) {
    meter.SpendElsewhere(Part::kAllocations, 15e6);
    meter.OnCpu(i * kSecondNs, i * kSecondNs);
  }
  EXPECT_NEAR(meter.Allowed(Part::kExceptions), 15e6, 1e3);
  EXPECT_FALSE(meter.Overdrawn(Part::kAllocations));
  EXPECT_NEAR(meter.told().share(Part::kAllocations), 0.015, 1e-4);
}

TEST(OverheadMeter, WhatWasOverspentIsPaidBack) {
  OverheadMeter meter(0.01);
  meter.OnCpu(0, 0);
  meter.OnCpu(kSecondNs, kSecondNs);
  meter.Spend(Part::kAllocations, 60e6);
  EXPECT_TRUE(meter.Overdrawn(Part::kAllocations));
  EXPECT_NEAR(meter.Allowed(Part::kAllocations), 4e6, 1);
  for (int i = 2; i <= 10; ++i) meter.OnCpu(i * kSecondNs, i * kSecondNs);
  EXPECT_FALSE(meter.Overdrawn(Part::kAllocations));
  EXPECT_NEAR(meter.Allowed(Part::kAllocations), 10e6, 1);
}

}  // namespace
}  // namespace clrscope::profile
