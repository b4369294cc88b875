// SPDX-License-Identifier: Apache-2.0
// How long requests took, and what is left of a profile when some of them are asked for.
#include "profile/views/durations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "profile/testing/requests_profile.h"
#include "profile/views/filter.h"

namespace clrscope::profile {
namespace {

using testing::RequestsBuilder;

constexpr int64_t kMsNs = 1'000'000;

TEST(Durations, QuantilesAreWithinHalfAStep) {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    std::mt19937 random(seed);
    std::lognormal_distribution<double> took(std::log(20e6), 0.5 * seed);
    RequestsBuilder b;
    b.AddProcess(1, "shop");
    std::vector<double> all;
    for (int i = 0; i < 5'000; ++i) {
      const double ns = std::clamp(took(random), 10'000.0, 1e13);
      all.push_back(std::floor(ns));
      b.Request("GET /a", static_cast<int64_t>(ns));
    }
    std::sort(all.begin(), all.end());
    const auto by_route = DurationsByRoute(b.p);
    ASSERT_EQ(by_route.size(), 1u);
    const Durations& d = by_route.begin()->second;
    EXPECT_EQ(d.count, 5'000);
    for (const double q : {0.001, 0.01, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1.0}) {
      const auto rank = static_cast<size_t>(std::ceil(q * 5'000 - 1e-6)) - 1;
      EXPECT_NEAR(d.At(q) / all[rank], 1, 0.034) << q;
    }
    double sum = 0;
    for (const double ns : all) sum += ns;
    EXPECT_NEAR(d.mean_ns(), sum / 5'000, 1);
    EXPECT_EQ(LongestNs(d, static_cast<int64_t>(all.back())), all.back());
    EXPECT_NEAR(LongestNs(d, 1) / all.back(), 1, 0.034) << "the longest was cut out";
  }
}

TEST(Durations, OfNoneAreNothing) {
  const Durations none;
  EXPECT_EQ(none.At(0.5), 0);
  EXPECT_EQ(none.mean_ns(), 0);
  EXPECT_EQ(LongestNs(none, 17), 0);
  EXPECT_TRUE(DurationsByRoute(Profile{}).empty());
}

TEST(Durations, RoutesAndProcessesAreApart) {
  RequestsBuilder b;
  b.AddProcess(1, "a");
  b.AddProcess(2, "b");
  b.Request("GET /a", 10 * kMsNs);
  b.Request("GET /a", 20 * kMsNs, 0, 0, 0, 1);
  b.Request("GET /b", 30 * kMsNs);
  EXPECT_EQ(DurationsByRoute(b.p).size(), 3u);
}

// Two routes of 1 to 100 ms: each request of n ms has n samples, and one exception if n is even.
Profile HundredRequests() {
  RequestsBuilder b;
  b.AddProcess(1, "shop");
  for (const char* route : {"GET /a", "POST /b"})
    for (int n = 1; n <= 100; ++n) {
      b.Request(route, n * kMsNs, static_cast<uint64_t>(n), n % 2 == 0 ? 1 : 0);
      b.Slow(route, "/x", n * kMsNs);
    }
  b.Work("", 0, 1'000);
  b.Work(kAfterResponse, 0, 500);
  return std::move(b.p);
}
double CountOf(const Profile& p, Measure m) {
  double n = 0;
  for (const Figure& f : p.figures)
    if (f.measure == m)
      for (const Cell& c : f.cells)
        n += m == Measure::kAllocations ? static_cast<double>(c.value.samples) : c.value.count;
  return n;
}

TEST(FilterRequests, ByRoute) {
  Profile p = HundredRequests();
  EXPECT_EQ(CountOf(p, Measure::kAllocations), 2 * 5050 + 1500);
  ASSERT_TRUE(Apply({.request = "^GET "}, p).ok());
  EXPECT_EQ(CountOf(p, Measure::kAllocations), 5050);
  EXPECT_EQ(CountOf(p, Measure::kExceptions), 50);
  EXPECT_EQ(CountOf(p, Measure::kRequests), 100);
  EXPECT_EQ(p.requests.routes.size(), 1u);
  EXPECT_EQ(p.requests.slowest.size(), 100u);
  EXPECT_FALSE(p.requests.narrowed);
  p = HundredRequests();
  ASSERT_TRUE(Apply({.request = "no request"}, p).ok());
  EXPECT_EQ(CountOf(p, Measure::kAllocations), 1'000);
  EXPECT_EQ(CountOf(p, Measure::kRequests), 0);
  p = HundredRequests();
  EXPECT_FALSE(Apply({.request = "(["}, p).ok());
}

TEST(FilterRequests, SlowerThanATimeRoundsItDown) {
  Profile p = HundredRequests();
  ASSERT_TRUE(Apply({.slower_than_ns = 65 * kMsNs}, p).ok());  // 50 ms
  EXPECT_EQ(CountOf(p, Measure::kRequests), 2 * 51);
  EXPECT_EQ(CountOf(p, Measure::kAllocations), 2 * (5050 - 49 * 50 / 2));
  EXPECT_EQ(p.requests.slowest.size(), 2u * 51);
  EXPECT_TRUE(p.requests.narrowed);
  p = HundredRequests();
  ASSERT_TRUE(Apply({.slower_than_ns = kMsNs}, p).ok());
  EXPECT_EQ(CountOf(p, Measure::kRequests), 200);
  EXPECT_EQ(CountOf(p, Measure::kAllocations), 2 * 5050) << "what is of no request goes";
  p = HundredRequests();
  ASSERT_TRUE(Apply({.slower_than_ns = kSecond}, p).ok());
  EXPECT_EQ(CountOf(p, Measure::kRequests), 0);
  EXPECT_EQ(CountOf(p, Measure::kAllocations), 0);
}

TEST(FilterRequests, SlowerThanAQuantileIsOfEachRoute) {
  RequestsBuilder b;
  b.AddProcess(1, "shop");
  for (int n = 1; n <= 100; ++n) {
    b.Request("GET /fast", n * kMsNs / 100, 1);
    b.Request("GET /slow", n * kMsNs * 100, 1);
  }
  ASSERT_TRUE(Apply({.slower_than_quantile = 0.95}, b.p).ok());  // 0.7 ms and 7 s
  EXPECT_EQ(CountOf(b.p, Measure::kRequests), 31 + 31);
  EXPECT_EQ(CountOf(b.p, Measure::kAllocations), 31 + 31);
  for (const auto& [route, d] : DurationsByRoute(b.p)) EXPECT_EQ(d.count, 31);
}

TEST(FilterRequests, TogetherWithOthers) {
  Profile p = HundredRequests();
  ASSERT_TRUE(
      Apply(
          {.method = "Handler", .process = "shop", .request = "/b$", .slower_than_ns = 50 * kMsNs},
          p)
          .ok());
  EXPECT_EQ(CountOf(p, Measure::kRequests), 51);
  EXPECT_EQ(p.requests.routes.size(), 1u);
  EXPECT_EQ(p.str(p.requests.routes[0].route), "POST /b");
}

}  // namespace
}  // namespace clrscope::profile
