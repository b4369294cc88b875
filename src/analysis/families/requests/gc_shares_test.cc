// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/gc_shares.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "analysis/families/gc/pause_log.h"

namespace clrscope::analysis {
namespace {

TEST(GcShares, SharesAddUpToThePauses) {
  auto random = [engine = std::mt19937(3)]() mutable { return static_cast<uint32_t>(engine()); };
  GcShares shares;
  std::map<uint32_t, double> got, want;
  struct Late {
    uint64_t epoch;
    uint32_t route;
    double bytes;
  };
  std::vector<Late> late;  // routes that are not known yet
  const auto add = [&](uint32_t route, double ns) { got[route] += ns; };
  double pauses = 0;
  for (int pause = 0; pause < 300; ++pause) {
    std::map<uint32_t, double> of;
    double all = 0;
    for (uint32_t i = 1 + random() % 40; i > 0; --i) {
      const uint32_t route = random() % 9;
      const double bytes = 1 + random() % 100'000;
      const uint64_t epoch = shares.OnSample(bytes);
      of[route] += bytes;
      all += bytes;
      if (random() % 2 == 0)
        shares.OnRoute(epoch, route, bytes, add);  // before the pause
      else
        late.push_back({epoch, route, bytes});
    }
    const auto ns = static_cast<int64_t>(1 + random() % 10'000'000);
    shares.OnPause(ns);
    pauses += static_cast<double>(ns);
    for (const auto& [route, bytes] : of) want[route] += static_cast<double>(ns) * bytes / all;
    if (random() % 3 == 0) shares.Collect(add);
    std::shuffle(late.begin(), late.end(), std::mt19937(random()));
    while (late.size() > 60) {
      shares.OnRoute(late.back().epoch, late.back().route, late.back().bytes, add);
      late.pop_back();
    }
  }
  for (const Late& l : late) shares.OnRoute(l.epoch, l.route, l.bytes, add);
  shares.Collect(add);
  double sum = 0;
  for (const auto& [route, ns] : got) {
    EXPECT_NEAR(ns, want[route], 1e-6 * want[route]);
    sum += ns;
  }
  EXPECT_NEAR(sum, pauses, 1e-6 * pauses);
}

TEST(GcShares, OthersHaveTheirPart) {
  GcShares shares;
  (void)shares.OnSample(750);  // of no request
  const uint64_t epoch = shares.OnSample(250);
  shares.OnPause(1000);
  shares.OnPause(50);  // nobody allocated
  double ns = 0;
  shares.OnRoute(epoch, 1, 250, [&](uint32_t, double v) { ns += v; });
  EXPECT_EQ(ns, 250);
}

TEST(GcShares, WithoutAPauseItStaysSmallAndLosesNothing) {
  GcShares shares;
  double got = 0;
  const auto add = [&](uint32_t, double ns) { got += ns; };
  for (int i = 0; i < 100'000; ++i) {
    shares.OnRoute(shares.OnSample(1), static_cast<uint32_t>(i % 3), 1, add);
    if (i % 1000 == 0) shares.Collect(add);
  }
  EXPECT_EQ(got, 0);
  shares.OnPause(5'000'000);
  shares.Collect(add);
  EXPECT_NEAR(got, 5e6, 1);
}

TEST(GcShares, WhatIsLongForgottenIsNobodys) {
  GcShares shares;
  const uint64_t epoch = shares.OnSample(10);
  for (int i = 0; i < 10'000; ++i) shares.OnPause(1);
  shares.OnRoute(epoch, 1, 10, [](uint32_t, double) { FAIL(); });
  shares.OnRoute(epoch + 1'000'000, 1, 10, [](uint32_t, double) { FAIL(); });
}

TEST(PauseLog, PartsOfASpanAreTheirs) {
  PauseLog log;
  log.Add({10, 20});
  log.Add({30, 30});  // none
  log.Add({40, 60});
  EXPECT_EQ(log.count(), 2u);
  EXPECT_EQ(log.Within(0, 100), 30);
  EXPECT_EQ(log.Within(15, 45), 10);
  EXPECT_EQ(log.Within(20, 40), 0);
  EXPECT_EQ(log.Within(50, 50), 0);
  EXPECT_EQ(log.Within(60, 10), 0);
  log.Shift(10);
  EXPECT_EQ(log.Within(0, 100), 30);
  EXPECT_EQ(log.Within(0, 9), 9);
}

TEST(PauseLog, IsBoundedAndKnowsTheNumberOfEach) {
  PauseLog log;
  for (int64_t i = 0; i < 70'000; ++i) log.Add({i * 10, i * 10 + 1});
  EXPECT_EQ(log.count(), 70'000u);
  EXPECT_GT(log.oldest(), 0u);
  EXPECT_EQ(log.At(69'999).begin_ns, 699'990);
  EXPECT_EQ(log.At(log.oldest()).begin_ns, static_cast<int64_t>(log.oldest()) * 10);
}

TEST(PauseLog, TimesThatGoBackwardsAddNothingNegative) {
  std::mt19937_64 random(5);
  PauseLog log;
  for (int i = 0; i < 500; ++i) {
    const auto at = static_cast<int64_t>(random() % 1'000'000);
    log.Add({at, at + static_cast<int64_t>(random() % 1000)});
  }
  for (int i = 0; i < 2000; ++i) {
    const auto from = static_cast<int64_t>(random() % 1'000'000);
    EXPECT_GE(log.Within(from, from + static_cast<int64_t>(random() % 100'000)), 0);
  }
}

}  // namespace
}  // namespace clrscope::analysis
