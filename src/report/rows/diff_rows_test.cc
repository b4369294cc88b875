// SPDX-License-Identifier: Apache-2.0
// Differences of what is thrown and waited, and conditions on them.
#include "report/rows/diff_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "clr/type_name.h"
#include "profile/testing/orders_profile.h"
#include "report/rows/fail_on.h"
#include "report/text/diff.h"

namespace clrscope::report {
namespace {

using profile::Measure;
using profile::Metric;

// `App.Load` threw `lost` exceptions and `again` of them once more, or waited as often, 2 ms each.
DiffInput RunOf(Measure measure, double lost, double again) {
  profile::testing::OrdersBuilder b;
  b.AddProcess(42, "orders");
  const uint32_t node = b.Stack({b.AddFrame("App", "App.Main"), b.AddFrame("App", "App.Load")});
  const uint32_t type = b.AddType("App.Lost", 0);
  profile::Figure figure;
  figure.measure = measure;
  figure.source =
      measure == Measure::kExceptions ? profile::Source::kException : profile::Source::kContention;
  const auto add = [&](uint32_t of, double count, double amount) {
    profile::Estimate e;
    e.samples = static_cast<uint64_t>(count + (measure == Measure::kExceptions ? amount : 0));
    e.count = e.seen_count = count;
    e.amount = e.seen_amount = amount;
    figure.cells.push_back({of, type, 0, profile::HeapKind::kUnknown, e});
  };
  add(node, lost, measure == Measure::kExceptions ? again : lost * 2e6);
  add(b.p.nodes[node].parent, 7, measure == Measure::kExceptions ? 0 : 7e6);
  b.p.figures.push_back(figure);
  b.p.shown_index = 1;
  DiffInput run;
  run.input.profile = std::move(b.p);
  run.name = "run";
  run.seconds = 4;
  return run;
}

// A type, by its raw name, and how many bytes of it were allocated.
DiffInput Allocated(const std::vector<std::pair<std::string, double>>& types) {
  profile::testing::OrdersBuilder b;
  b.AddProcess(42, "orders");
  const uint32_t node = b.Stack({b.AddFrame("App", "App.Main")});
  for (const auto& [raw, bytes] : types) {
    const uint32_t type = b.AddType(clr::CsharpTypeName(raw), 0);
    b.p.types[type].raw = b.p.strings.Intern(raw);
    profile::Estimate e;
    e.samples = 100;
    e.amount = e.seen_amount = bytes;
    e.count = e.seen_count = 100;
    b.p.shown().cells.push_back({node, type, 0, profile::HeapKind::kSoh, e});
  }
  DiffInput run;
  run.input.profile = std::move(b.p);
  run.name = "run";
  return run;
}

std::vector<std::string> TypesOf(const DiffTable& t) {
  std::vector<std::string> out;
  for (const DiffRow& row : t.rows)
    out.push_back(fmt::format("{} {} {}", row.key.at("type").get<std::string>(),
                              row.difference.before, row.difference.after));
  std::sort(out.begin(), out.end());
  return out;
}

DiffTable Diff(Measure measure, double before, double after, Metric metric, View view) {
  std::vector<DiffInput> a, b;
  a.push_back(RunOf(measure, before, 3));
  b.push_back(RunOf(measure, after, 5));
  return MakeDiff(a, b, view, metric, false);
}

TEST(DiffRowsTest, TypesMatchThoseOfARecordingThatDoesNotKnowOwners) {
  std::vector<DiffInput> old, now;
  old.push_back(Allocated({{"Slot[System.Int32]", 100}, {"Entry", 50}, {"Program", 10}}));
  now.push_back(Allocated({{"Shop.Box`1+Slot[System.Int32]", 300},
                           {"Map+Entry", 20},
                           {"Set+Entry", 40},
                           {"Program", 10},
                           {"Shop.Other+Program", 7},
                           {"Shop.Fresh+New", 9}}));
  EXPECT_EQ(TypesOf(MakeDiff(old, now, View::kType, Metric::kAmount, true)),
            (std::vector<std::string>{"Entry 50 60", "Program 10 17", "Shop.Fresh.New 0 9",
                                      "Slot<int> 100 300"}));
  std::vector<DiffInput> again;
  again.push_back(Allocated({{"Program", 3}, {"Shop.Other+Program", 5}}));
  EXPECT_EQ(TypesOf(MakeDiff(now, again, View::kType, Metric::kAmount, true)),
            (std::vector<std::string>{"Map.Entry 20 0", "Program 10 3", "Set.Entry 40 0",
                                      "Shop.Box<int>.Slot 300 0", "Shop.Fresh.New 9 0",
                                      "Shop.Other.Program 7 5"}))
      << "both know which one is which";
}

TEST(DiffRowsTest, ExceptionsHaveTypesButNoHeaps) {
  const DiffTable t = Diff(Measure::kExceptions, 100, 300, Metric::kCount, View::kType);
  EXPECT_EQ(t.quantity().name, "count");
  ASSERT_EQ(t.rows.size(), 1u);
  EXPECT_EQ(t.rows[0].key, (Json{{"type", "App.Lost"}}));
  EXPECT_EQ(t.rows[0].difference.difference, 200);
  EXPECT_TRUE(t.rows[0].difference.changed);
  EXPECT_TRUE(t.total.difference.changed);
}

TEST(DiffRowsTest, RowsWithoutTheQuantityAreLeftOut) {
  const DiffTable t = Diff(Measure::kExceptions, 100, 300, Metric::kAmount, View::kSite);
  EXPECT_EQ(t.quantity().name, "rethrows");
  ASSERT_EQ(t.rows.size(), 1u) << "App.Main rethrew nothing";
  EXPECT_EQ(t.rows[0].key["method"], "App.Load");
  EXPECT_EQ(t.rows[0].difference.difference, 2);
  EXPECT_FALSE(t.rows[0].difference.changed) << "3 and 5 differ by chance";
}

TEST(DiffRowsTest, LocksHaveNoTypesAndTimeNoKnownError) {
  DiffTable t = Diff(Measure::kLocks, 100, 300, Metric::kAmount, View::kSite);
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_FALSE(t.rows[0].key.contains("type"));
  EXPECT_EQ(t.rows[0].difference.difference, 400e6);
  EXPECT_FALSE(t.rows[0].difference.p_value);
  EXPECT_EQ(t.changed, 0u);
  EXPECT_EQ(Diff(Measure::kLocks, 100, 300, Metric::kCount, View::kSite).changed, 1u);
}

TEST(DiffRowsTest, TextHasTheUnitsAndWordsOfTheMeasure) {
  std::vector<DiffInput> a, b;
  a.push_back(RunOf(Measure::kLocks, 100, 0));
  b.push_back(RunOf(Measure::kLocks, 0, 0));
  for (const View view :
       {View::kSite, View::kStack, View::kMethod, View::kAssembly, View::kProcess}) {
    const std::string text = DiffText(a, b, MakeDiff(a, b, view, Metric::kAmount, false), {});
    EXPECT_NE(text.find("207 ms"), std::string::npos) << text;
    EXPECT_NE(text.find("compare the number of waits"), std::string::npos) << text;
  }
  const DiffTable sites = MakeDiff(a, b, View::kSite, Metric::kAmount, false);
  EXPECT_NE(DiffText(a, b, sites, {}).find("Waited in"), std::string::npos);
  EXPECT_NE(DiffText(a, b, sites, {}).find("gone"), std::string::npos);
  const DiffTable counts = MakeDiff(a, b, View::kSite, Metric::kCount, false);
  const std::string markdown = DiffMarkdown(a, b, counts, {});
  EXPECT_TRUE(markdown.starts_with("**Waits for locks:** 107 → 7")) << markdown;
  EXPECT_NE(markdown.find("| Waited in |"), std::string::npos) << markdown;
  EXPECT_EQ(markdown.find("Type |"), std::string::npos) << markdown;
  // Nothing before: no ratio.
  const DiffTable fresh = MakeDiff(b, a, View::kSite, Metric::kCount, false);
  EXPECT_NE(DiffText(b, a, fresh, {}).find("new"), std::string::npos);
  // Rates of few events have digits behind the point.
  DiffTextOptions per_second;
  per_second.per = Per::kSecond;
  a[0].exposure = b[0].exposure = 4;
  EXPECT_NE(
      DiffText(a, b, MakeDiff(a, b, View::kSite, Metric::kCount, false), per_second).find("1.75/s"),
      std::string::npos);
}

const profile::MeasureSpec& Spec(Measure m) { return profile::SpecOf(m); }

TEST(FailOnTest, ConditionsNameWhatTheMeasureCounts) {
  const auto metric = [](const char* text, Measure m) {
    const Result<FailOn> condition = ParseFailOn(text);
    EXPECT_TRUE(condition.ok()) << text;
    const Result<Metric> of = condition->MetricOf(Spec(m));
    return of.ok() ? static_cast<int>(*of) : -1;
  };
  const int amount = static_cast<int>(Metric::kAmount), count = static_cast<int>(Metric::kCount);
  EXPECT_EQ(metric("alloc_bytes>+5%", Measure::kAllocations), amount);
  EXPECT_EQ(metric("alloc_objects>1000", Measure::kAllocations), count);
  EXPECT_EQ(metric("bytes>10MB", Measure::kAllocations), amount);
  EXPECT_EQ(metric("count>10", Measure::kExceptions), count);
  EXPECT_EQ(metric("rethrows>10", Measure::kExceptions), amount);
  EXPECT_EQ(metric("wait_ns>+5%", Measure::kWaits), amount);
  EXPECT_EQ(metric("wait_ns>+5%", Measure::kExceptions), -1);
  EXPECT_EQ(metric("count>10", Measure::kAllocations), -1);
  EXPECT_EQ(metric("gc_cpu_ns>20ms", Measure::kGcCpu), amount);
  EXPECT_EQ(metric("bytes>10MB", Measure::kLive), amount);
  EXPECT_EQ(metric("alloc_bytes>10MB", Measure::kLive), -1);
  EXPECT_EQ(metric("alloc_bytes>10", Measure::kLocks), -1);
  EXPECT_EQ(ParseFailOn("count>10")->MetricOf(Spec(Measure::kAllocations)).error().message,
            "--fail-on 'count>10': allocations have objects and bytes");
}

TEST(FailOnTest, LimitsHaveTheUnitsOfTheirQuantity) {
  EXPECT_EQ(ParseFailOn("wait_ns>20ms")->limit, 20e6);
  EXPECT_EQ(ParseFailOn("wait_ns < -1500")->limit, -1500);
  EXPECT_EQ(ParseFailOn("bytes>2k")->limit, 2048);
  EXPECT_EQ(ParseFailOn("count>+5%")->limit, 0.05);
  EXPECT_TRUE(ParseFailOn("changed_rows>0")->changed_rows());
  for (const char* bad : {"count>20ms", "wait_ns>2MB", "count", "alloc_count>1", "alloc_>1", ">1",
                          "changed_rows>5%", "wait_ns>20ms%"})
    EXPECT_FALSE(ParseFailOn(bad).ok()) << bad;
}

TEST(FailOnTest, NoiseDoesNotFailAndTimeDoes) {
  const auto holds = [](const char* text, double before, double after, Metric metric) {
    const DiffTable t = Diff(Measure::kLocks, before, after, metric, View::kSite);
    return ParseFailOn(text)->Holds(t.total.difference, t.changed);
  };
  EXPECT_FALSE(holds("count>0", 100, 105, Metric::kCount));
  EXPECT_TRUE(holds("count>150", 100, 300, Metric::kCount));
  EXPECT_FALSE(holds("count>250", 100, 300, Metric::kCount));
  EXPECT_TRUE(holds("wait_ns>+1%", 100, 105, Metric::kAmount)) << "nothing is known of its noise";
  EXPECT_TRUE(holds("wait_ns>9ms", 100, 105, Metric::kAmount));
}

}  // namespace
}  // namespace clrscope::report
