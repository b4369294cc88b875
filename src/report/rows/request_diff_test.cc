// SPDX-License-Identifier: Apache-2.0
// What changed per request, by route.
#include <gtest/gtest.h>

#include <algorithm>

#include "profile/estimate/duration_scale.h"
#include "profile/testing/orders_profile.h"
#include "report/rows/diff_rows.h"
#include "report/text/diff.h"

namespace clrscope::report {
namespace {

using profile::LabelKey;
using profile::LabelSet;
using profile::Measure;
using profile::Metric;

// A route of a recording: its requests, how long each took, and the samples of 100 bytes that were
// allocated for them.
struct Served {
  const char* route;
  double count;
  int64_t each_ns;
  uint64_t samples;
  double failed = 0;
};

DiffInput ServiceRun(std::initializer_list<Served> routes, uint64_t samples_of_none = 0) {
  profile::testing::OrdersBuilder b;
  b.AddProcess(42, "shop");
  const uint32_t node = b.Stack({b.AddFrame("App", "App.Main")}), type = b.AddType("App.Item", 1);
  b.p.shown().cells_by_request = true;
  profile::Figure requests;
  requests.measure = Measure::kRequests;
  requests.source = profile::Source::kRequest;
  const auto allocate = [&](uint64_t samples, uint32_t labels) {
    if (samples != 0)
      b.p.shown().cells.push_back(
          {node, type, 0, profile::HeapKind::kSoh, profile::EstimateSampled(samples, 100), labels});
  };
  for (const Served& s : routes) {
    const StringId name = b.p.strings.Intern(s.route);
    b.p.labels.push_back(LabelSet()
                             .With(LabelKey::kRequest, name.value)
                             .With(LabelKey::kDuration, profile::DurationScale::StepOf(s.each_ns)));
    const auto labels = static_cast<uint32_t>(b.p.labels.size() - 1);
    profile::Estimate e;
    e.samples = static_cast<uint64_t>(s.count);
    e.count = e.seen_count = s.count;
    e.amount = e.seen_amount = s.count * static_cast<double>(s.each_ns);
    requests.cells.push_back({0, type, 0, profile::HeapKind::kUnknown, e, labels});
    allocate(s.samples, labels);
    profile::RouteFacts facts;
    facts.route = name;
    facts.counted = s.count;
    facts.failed = s.failed;
    b.p.requests.routes.push_back(facts);
  }
  allocate(samples_of_none, 0);
  b.p.figures.push_back(requests);
  DiffInput run;
  run.input.profile = std::move(b.p);
  run.name = "run";
  run.seconds = 10;
  run.exposure = RequestCount(run.input.profile);
  return run;
}

DiffTable Diff(DiffInput before, DiffInput after, Metric metric = Metric::kAmount) {
  std::vector<DiffInput> a, b;
  a.push_back(std::move(before));
  b.push_back(std::move(after));
  return MakeRequestDiff(a, b, metric);
}

const DiffRow& RowOf(const DiffTable& t, std::string_view route) {
  const auto row = std::find_if(t.rows.begin(), t.rows.end(),
                                [&](const DiffRow& r) { return r.key.at("request") == route; });
  EXPECT_NE(row, t.rows.end()) << route;
  return *row;
}

constexpr int64_t kMs = 1'000'000;

TEST(RequestDiffTest, BytesAreDividedByTheRequestsOfTheirRoute) {
  // Twice the load of one route, each of the other's requests allocates three times as much.
  const DiffTable t =
      Diff(ServiceRun({{"GET /a", 1000, 10 * kMs, 400}, {"GET /b", 100, kMs, 200}}),
           ServiceRun({{"GET /a", 2000, 10 * kMs, 800}, {"GET /b", 100, kMs, 600}}));
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_EQ(t.changed, 1u);
  const DiffRow &a = RowOf(t, "GET /a"), &b = RowOf(t, "GET /b");
  EXPECT_FALSE(a.difference.changed) << "more requests, each as before";
  EXPECT_DOUBLE_EQ(a.difference.before, a.difference.after);
  EXPECT_DOUBLE_EQ(a.difference.before * 1000, profile::EstimateSampled(400, 100).amount);
  EXPECT_TRUE(b.difference.changed);
  EXPECT_NEAR(*b.difference.ratio(), 2, 1e-9);
  EXPECT_LT(b.difference.difference_interval.low, b.difference.difference);
  EXPECT_GT(b.difference.difference_interval.low, 0);
  EXPECT_GT(b.difference.difference_interval.high, b.difference.difference);
  EXPECT_EQ(t.rows[0].key, (Json{{"request", "GET /b"}})) << "what changed comes first";
}

TEST(RequestDiffTest, WhatBelongsToNoRequestIsInNoRow) {
  const DiffTable t = Diff(ServiceRun({{"GET /a", 100, kMs, 300}}, 10),
                           ServiceRun({{"GET /a", 100, kMs, 300}}, 100'000));
  ASSERT_EQ(t.rows.size(), 1u);
  EXPECT_EQ(t.changed, 0u);
  EXPECT_EQ(t.total.difference.difference, 0);
  EXPECT_EQ(t.total.requests->before.count, 100);
}

TEST(RequestDiffTest, DurationsAndErrorsAreOfEachSide) {
  const DiffTable t = Diff(ServiceRun({{"GET /a", 1000, 10 * kMs, 1, 3}}),
                           ServiceRun({{"GET /a", 500, 40 * kMs, 1, 30}}));
  const RouteSides& sides = *RowOf(t, "GET /a").requests;
  EXPECT_NEAR(sides.before.durations.At(0.5), 10e6, 0.07 * 10e6);
  EXPECT_NEAR(sides.after.durations.At(0.95), 40e6, 0.07 * 40e6);
  EXPECT_EQ(sides.before.errors, 3);
  EXPECT_EQ(sides.after.errors, 30);
  DiffTextOptions options;
  options.per = Per::kRequest;
  options.width = 160;
  const std::string text = DiffText({}, {}, t, options);
  for (const char* part : {"1,000 → 500", "3 → 30", "per request", "GET /a", "p95"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(RequestDiffTest, ARouteOfOneSideIsComparedWithNothing) {
  const DiffTable t = Diff(ServiceRun({{"GET /a", 100, kMs, 300}, {"GET /old", 10, kMs, 5000}}),
                           ServiceRun({{"GET /a", 100, kMs, 300}, {"GET /new", 10, kMs, 5000}}));
  ASSERT_EQ(t.rows.size(), 3u);
  for (const char* route : {"GET /old", "GET /new"}) {
    const DiffRow& row = RowOf(t, route);
    EXPECT_FALSE(row.requests->both());
    EXPECT_FALSE(row.difference.p_value) << route;
    EXPECT_FALSE(row.difference.changed) << route;
  }
  const std::string text = DiffText({}, {}, t, {.per = Per::kRequest, .width = 160});
  EXPECT_NE(text.find("gone"), std::string::npos) << text;
  EXPECT_NE(text.find("new"), std::string::npos) << text;
}

TEST(RequestDiffTest, SeveralRunsShowTheirSpread) {
  std::vector<DiffInput> before, after;
  for (const uint64_t samples : {100u, 900u, 300u})
    before.push_back(ServiceRun({{"GET /a", 100, kMs, samples}}));
  for (const uint64_t samples : {200u, 1000u, 700u})
    after.push_back(ServiceRun({{"GET /a", 100, kMs, samples}}));
  const DiffTable t = MakeRequestDiff(before, after, Metric::kAmount);
  EXPECT_TRUE(t.spread.known);
  EXPECT_EQ(t.changed, 0u) << "runs of one side differ as much";
  EXPECT_EQ(RowOf(t, "GET /a").requests->before.count, 300);
}

}  // namespace
}  // namespace clrscope::report
