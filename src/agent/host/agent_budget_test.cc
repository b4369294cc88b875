// SPDX-License-Identifier: Apache-2.0
// The whole agent under a limit of what it may take, on a fake runtime.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <string>

#include "agent/testing/agent_on_fake.h"

namespace clrscope::agent {
namespace {

constexpr ModuleId kLimitedShop = 1;
constexpr FunctionId kLimitedMain = 100;
constexpr ClassId kLimitedThing = 200;
constexpr uintptr_t kLimitedCode = 0x100000;

// On the calling thread, for as long as it is there.
struct LimitedShop {
  explicit LimitedShop(AgentOnFake& a) {
    a.runtime.AddModule(kLimitedShop, 0);
    a.runtime.AddMethod(kLimitedMain, kLimitedShop, false, kLimitedCode, 200);
    a.runtime.AddType(kLimitedThing, kLimitedShop);
    FakeRuntime::SetStack({{kLimitedMain, kLimitedCode + 16}});
    (void)a.EndInterval();
  }
  ~LimitedShop() { FakeRuntime::SetStack({}); }
  LimitedShop(const LimitedShop&) = delete;
  LimitedShop& operator=(const LimitedShop&) = delete;
};

void NapForAMillisecond() {
  const timespec pause{0, 1'000'000};
  (void)::nanosleep(&pause, nullptr);
}

TEST(AgentUnderALimit, SamplesInWindowsThatStandForAllOfTheTime) {
  AgentOnFake a("max_overhead=10,every=100s,allocations=1,live=1");
  const LimitedShop shop(a);
  uint64_t allocated = 0;
  // A thread with a tenth of a processor has a window in some 10 s, by chance.
  const bool began = Until(240, [&] {
    for (int i = 0; i < 200; ++i, ++allocated)
      if (a.runtime.samples_allocations()) a.Allocate(kLimitedThing);
    NapForAMillisecond();
    return a.Status("windows") >= 2;
  });
  EXPECT_TRUE(began) << a.Ask("status");
  const profile::IntervalFrame f = a.EndInterval();
  EXPECT_GT(f.overhead.limit, 0);
  EXPECT_GT(f.overhead.cpu_ns, 0);
  EXPECT_GT(f.overhead.of(profile::OverheadPart::kAllocations), 0);
  EXPECT_GT(f.windows.count, 0u);
  EXPECT_GT(f.windows.ns, 0);
  EXPECT_EQ(f.windows.of_ns, f.all_windows.of_ns);
  uint64_t whole = 0, windowed = 0;
  for (const profile::IntervalFlow& r : f.flows) {
    (r.window == 0 ? whole : windowed) += r.value.samples;
    if (r.window != 0) {
      EXPECT_GT(r.value.count, 2.0 * static_cast<double>(r.value.samples));
    }
  }
  EXPECT_GT(whole, 0u);
  EXPECT_GT(windowed, 0u);
  EXPECT_LT(whole + windowed, allocated);
}

TEST(AgentUnderALimit, WhatIsWithinItIsSampledAllAlong) {
  AgentOnFake a("max_overhead=50,every=100s,live=0");
  const LimitedShop shop(a);
  for (int i = 0; i < 500; ++i) {
    a.Allocate(kLimitedThing);
    NapForAMillisecond();
  }
  const profile::IntervalFrame f = a.EndInterval();
  EXPECT_EQ(f.windows.count, 0u);
  ASSERT_EQ(f.flows.size(), 1u);
  EXPECT_EQ(f.flows[0].window, 0);
  EXPECT_EQ(f.flows[0].value.samples, 500u);
}

TEST(AgentUnderALimit, TheLimitIsOfItsWholeStay) {
  AgentOnFake a("max_overhead=1");
  EXPECT_EQ(a.Ask("set max_overhead=2"),
            "error how much it may take cannot be changed while it is loaded");
}

}  // namespace
}  // namespace clrscope::agent
