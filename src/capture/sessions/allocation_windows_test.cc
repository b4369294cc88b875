// SPDX-License-Identifier: Apache-2.0
// Allocations that are recorded in windows of time: the fold, the plan of windows and the estimator
// together, on simulated programs of which everything is known.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "analysis/families/windows/window_fold.h"
#include "profile/overhead/window_plan.h"

namespace clrscope::capture {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

struct WindowedOutcome {
  double total = 0, truth = 0;
  profile::Interval of_all;
  std::vector<double> types, truths;
  std::vector<profile::Interval> intervals;
  profile::Storms windows;
  double threads = 0, times = 0;
};

// What the counter tells of what is allocated in a second; nothing: it does not.
using Counter = std::function<std::optional<double>(int second, double bytes)>;
std::optional<double> Truly(int, double bytes) { return bytes; }

// Types of one size each; `bytes_per_second[s % size][type]`.
WindowedOutcome RecordWindows(profile::Source source, uint64_t seed, int seconds,
                              const std::vector<std::vector<double>>& bytes_per_second,
                              const Counter& counter = Truly) {
  const size_t types = bytes_per_second[0].size();
  constexpr uint64_t kSize = 1'000;
  profile::Recording recording;
  auto tables = std::make_unique<profile::ProcessTables>();
  for (size_t i = 0; i < types; ++i)
    tables->types.push_back({0, recording.strings.Intern("Type" + std::to_string(i))});
  recording.processes.push_back(std::move(tables));
  recording.processes[0]->info.Record(profile::Measure::kAllocations);
  analysis::Aggregate aggregate(&recording);
  analysis::WindowFold fold({recording.processes[0].get(), &aggregate, 0, kSecond}, source,
                            Loss::kAllocationsUncounted);
  std::mt19937_64 random(seed);
  profile::WindowPlan plan(seed + 1);
  WindowedOutcome out;
  out.types.resize(types);
  out.truths.resize(types);
  fold.BeginWindows();
  fold.NoteCounting(0);
  fold.NoteWholeEnded(0);
  for (int s = 0; s < seconds; ++s) {
    const std::vector<double>& rates =
        bytes_per_second[static_cast<size_t>(s) % bytes_per_second.size()];
    const int64_t from = s * kSecond;
    constexpr int64_t kLength = 60'000'000;
    const profile::WindowPlan::Window w = plan.Next(from, 0, kLength);
    double all = 0;
    for (size_t i = 0; i < types; ++i) {
      out.truths[i] += rates[i];
      all += rates[i];
      const double seen = rates[i] * static_cast<double>(kLength) / kSecond;
      const double chance = source == profile::Source::kSampled
                                ? profile::HitProbability(kSize) / static_cast<double>(kSize)
                                : 1 / profile::kSamplingMeanBytes;
      const auto n = std::poisson_distribution<int64_t>(seen * chance)(random);
      for (int64_t k = 0; k < n; ++k) {
        profile::Sums sums{1, kSize, static_cast<uint64_t>(profile::kSamplingMeanBytes)};
        if (source == profile::Source::kSampled) sums.stands_for = analysis::WindowFold::kUnit;
        fold.OnWindowed(
            {profile::SeriesKey::Make(profile::StackTree::kNoStack, static_cast<uint32_t>(i + 1),
                                      profile::HeapKind::kSoh, source, profile::SizeClass(kSize)),
             kSize, 1 + static_cast<uint64_t>(k % 3), sums, 1 / chance});
      }
    }
    fold.EndWindow(w.group, w.begin_ns, w.begin_ns + kLength, kSecond);
    if (const auto counted = counter(s, all)) fold.OnCounted({from, from + kSecond, *counted});
    fold.Advance(from + kSecond);
    out.truth += all;
  }
  fold.Finish(seconds * kSecond);
  recording.end_ns = seconds * kSecond;
  const profile::Profile p = analysis::Bind(recording, aggregate);
  out.intervals.resize(types);
  std::vector<profile::Estimate> sums(types);
  for (const profile::Cell& c : p.shown().cells) {
    const std::string_view name = p.str(p.types[c.type].name);
    if (name.starts_with("Type")) sums[std::stoul(std::string(name.substr(4)))] += c.value;
  }
  out.total = p.Total().amount;
  out.of_all = profile::AmountInterval(p.Total());
  for (size_t i = 0; i < types; ++i) {
    out.types[i] = sums[i].amount;
    out.intervals[i] = profile::AmountInterval(sums[i]);
  }
  for (const profile::ThreadRow& t : p.shown().threads) out.threads += t.value.amount;
  for (const profile::TimeRow& t : p.shown().times) out.times += t.value.amount;
  out.windows = p.shown().windows;
  return out;
}

// 2 GB/s and 5 GB/s in turn.
const std::vector<std::vector<double>> kProgram = {{1.2e9, 0.6e9, 0.15e9, 0.05e9},
                                                   {3e9, 0.6e9, 1.2e9, 0.2e9}};

TEST(AllocationWindows, TheTotalIsTheCountersAndSumsAgree) {
  for (const profile::Source source : {profile::Source::kSampled, profile::Source::kTick}) {
    const WindowedOutcome o = RecordWindows(source, 7, 40, kProgram);
    EXPECT_NEAR(o.total / o.truth, 1, 1e-6);
    EXPECT_NEAR(o.threads / o.truth, 1, 1e-6);
    EXPECT_NEAR(o.times / o.truth, 1, 1e-6);
    EXPECT_EQ(o.windows.windows, 40u);
    EXPECT_DOUBLE_EQ(o.windows.counted, o.truth);
  }
}

TEST(AllocationWindows, IntervalsOfTypesHoldAsOftenAsTheySay) {
  constexpr int kRuns = 200;
  for (const profile::Source source : {profile::Source::kSampled, profile::Source::kTick}) {
    std::vector<int> covered(kProgram[0].size());
    std::vector<double> bias(kProgram[0].size()), squares(kProgram[0].size());
    for (int run = 0; run < kRuns; ++run) {
      const WindowedOutcome o =
          RecordWindows(source, 1000 + static_cast<uint64_t>(run), 40, kProgram);
      for (size_t i = 0; i < covered.size(); ++i) {
        covered[i] += o.truths[i] >= o.intervals[i].low && o.truths[i] <= o.intervals[i].high;
        const double off = o.types[i] / o.truths[i] - 1;
        bias[i] += off / kRuns;
        squares[i] += off * off / kRuns;
      }
    }
    for (size_t i = 0; i < covered.size(); ++i) {
      // Four standard errors of 95 % in 200 runs, and of the mean error.
      EXPECT_GE(covered[i], std::lround(kRuns * (0.95 - 4 * std::sqrt(0.95 * 0.05 / kRuns)))) << i;
      EXPECT_LE(std::abs(bias[i]), 4 * std::sqrt(squares[i] / kRuns)) << i;
    }
  }
}

// A second in four has 20 times as much.
const std::vector<std::vector<double>> kBursts = {{0.1e9}, {0.1e9}, {2e9}, {0.1e9}};

int CoveredTotals(const std::vector<std::vector<double>>& program, const Counter& counter,
                  int seconds, int runs) {
  int covered = 0;
  for (int run = 0; run < runs; ++run) {
    const WindowedOutcome o = RecordWindows(
        profile::Source::kSampled, 5000 + static_cast<uint64_t>(run), seconds, program, counter);
    EXPECT_FALSE(o.windows.by_counter) << run;
    EXPECT_GT(o.of_all.high, o.of_all.low * 1.01) << run;
    covered += o.truth >= o.of_all.low && o.truth <= o.of_all.high;
  }
  return covered;
}

TEST(AllocationWindows, WithoutACounterTheErrorIsThatBetweenWindows) {
  constexpr int kRuns = 200;
  const Counter none = [](int, double) { return std::nullopt; };
  const auto least = std::lround(kRuns * (0.95 - 4 * std::sqrt(0.95 * 0.05 / kRuns)));
  EXPECT_GE(CoveredTotals(kProgram, none, 40, kRuns), least);
  EXPECT_GE(CoveredTotals(kBursts, none, 40, kRuns), least);
  EXPECT_GE(CoveredTotals(kProgram, none, 4, kRuns), least) << "of four windows";
}

// dotnet/runtime#131069: while the GC uses fewer heaps than before.
TEST(AllocationWindows, ACounterThatStandsStillIsNotUsed) {
  const Counter still = [](int s, double bytes) {
    return std::optional<double>(s >= 12 && s < 24 ? 0 : bytes);
  };
  EXPECT_GE(CoveredTotals(kProgram, still, 40, 100),
            std::lround(100 * (0.95 - 4 * std::sqrt(0.95 * 0.05 / 100))));
  const WindowedOutcome o = RecordWindows(profile::Source::kSampled, 3, 40, kProgram, still);
  EXPECT_TRUE(o.windows.contradicted);
  EXPECT_LT(o.windows.told, 0.8 * o.truth);
}

TEST(AllocationWindows, OneThatTellsALittleLessOfEachSecondNeither) {
  const Counter little = [](int, double bytes) { return std::optional<double>(0.4 * bytes); };
  const WindowedOutcome o =
      RecordWindows(profile::Source::kSampled, 3, 60, {{1e9}, {1.1e9}, {1.2e9}}, little);
  EXPECT_TRUE(o.windows.contradicted);
  EXPECT_LE(o.of_all.low, o.truth);
  EXPECT_GE(o.of_all.high, o.truth);
}

// What comes in bursts may be in no window; a counter that jumped tells as much.
TEST(AllocationWindows, WhatACounterTellsBeyondTheWindowsIsNotSure) {
  const Counter jump = [](int s, double bytes) {
    return std::optional<double>(s == 30 ? bytes + 80e9 : bytes);
  };
  const WindowedOutcome o =
      RecordWindows(profile::Source::kSampled, 3, 60, {{1e9}, {1.1e9}, {1.2e9}}, jump);
  EXPECT_TRUE(o.windows.by_counter);
  EXPECT_TRUE(o.windows.less);
  EXPECT_LE(o.of_all.low, o.truth);
  EXPECT_GE(o.of_all.high, o.truth + 80e9);
}

// One window, which saw ten types alike: each may be all wrong, and so may be their sum.
TEST(AllocationWindows, OfOneWindowTheTotalMayBeSeveralTimesAsMuch) {
  const std::vector<std::vector<double>> ten = {std::vector<double>(10, 0.2e9)};
  const Counter none = [](int, double) { return std::nullopt; };
  const WindowedOutcome o = RecordWindows(profile::Source::kSampled, 3, 1, ten, none);
  EXPECT_EQ(o.windows.windows, 1u);
  EXPECT_NEAR(o.of_all.high / o.total, 5.6, 0.1) << "and the error of its samples";
  EXPECT_LT(o.of_all.low, 0.1 * o.total);
}

// top adds up seconds, of which some have a window of several.
TEST(AllocationWindows, BoundByTheSecondWindowsStandForTheirOwnTime) {
  double sum = 0;
  for (int64_t s = 0; s < 20; ++s) {
    profile::Recording recording;
    recording.processes.push_back(std::make_unique<profile::ProcessTables>());
    recording.processes[0]->types.push_back({0, recording.strings.Intern("Type")});
    analysis::Aggregate aggregate(&recording);
    analysis::WindowFold fold({recording.processes[0].get(), &aggregate, 0, kSecond},
                              profile::Source::kSampled, Loss::kAllocationsUncounted);
    fold.BeginWindows();
    fold.NoteWholeEnded(0);
    if (s % 5 == 0) {
      fold.OnWindowed(
          {profile::SeriesKey::Make(profile::StackTree::kNoStack, 1, profile::HeapKind::kSoh,
                                    profile::Source::kSampled, profile::SizeClass(1'000)),
           1'000,
           1,
           {100, 100'000, 100 * analysis::WindowFold::kUnit},
           10e6});
      fold.EndWindow(1, 0, kSecond / 10, 5 * kSecond);
    }
    fold.Finish(kSecond);
    analysis::BindOptions options;
    options.one_second = true;
    const profile::Profile p = analysis::Bind(recording, aggregate, options);
    EXPECT_FALSE(p.shown().windows.open) << s;
    sum += p.Total().amount;
  }
  // 10.24 MB in each tenth of a second.
  EXPECT_NEAR(sum / (20 * 102.4e6), 1, 0.01) << "sizes are classes";
}

// Of a program that was quiet when there were windows.
TEST(AllocationWindows, WindowsThatSawNothingDoNotSayThatThereWasNothing) {
  profile::Recording recording;
  recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  recording.processes[0]->types.push_back({0, recording.strings.Intern("Type")});
  recording.processes[0]->info.Record(profile::Measure::kExceptions);
  analysis::Aggregate aggregate(&recording);
  bool capped = false;
  profile::Slice slice;
  slice.end_ns = kSecond;
  slice.rows.push_back(
      {recording.processes[0]->series.Find(
           profile::SeriesKey::Make(profile::StackTree::kNoStack, 1, profile::HeapKind::kUnknown,
                                    profile::Source::kException, 0),
           0, profile::StackTree::kOther, &capped),
       {100, 0, 100}});
  aggregate.OnSlice(std::move(slice));
  analysis::WindowFold fold({recording.processes[0].get(), &aggregate, 0, kSecond},
                            profile::Source::kException, Loss::kStormUncounted);
  fold.BeginWindows();
  fold.NoteWholeEnded(kSecond);
  for (uint64_t s = 1; s <= 3; ++s) {
    const auto at = static_cast<int64_t>(s) * kSecond;
    fold.EndWindow(s, at, at + kSecond / 10, kSecond);
  }
  fold.Finish(4 * kSecond);
  recording.end_ns = 4 * kSecond;
  const profile::Profile p = analysis::Bind(recording, aggregate);
  const profile::Figure& figure = *p.Find(profile::Measure::kExceptions);
  const profile::Interval interval = profile::WindowedCount(figure.Total(), figure.unseen());
  EXPECT_EQ(interval.low, 100);
  EXPECT_EQ(interval.high, profile::kAnyNumber);
}

TEST(AllocationWindows, WithNeitherCounterNorWindowThereMayBeAnyMore) {
  profile::Recording recording;
  recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  profile::ProcessTables& tables = *recording.processes[0];
  tables.types.push_back({0, recording.strings.Intern("Type")});
  analysis::Aggregate aggregate(&recording);
  bool capped = false;
  profile::Slice slice;
  slice.end_ns = kSecond;
  slice.rows.push_back(
      {tables.series.Find(
           profile::SeriesKey::Make(profile::StackTree::kNoStack, 1, profile::HeapKind::kSoh,
                                    profile::Source::kSampled, profile::SizeClass(1'000)),
           1'000, profile::StackTree::kOther, &capped),
       {50, 50'000, 0}});
  aggregate.OnSlice(std::move(slice));
  analysis::WindowFold fold({&tables, &aggregate, 0, kSecond}, profile::Source::kSampled,
                            Loss::kAllocationsUncounted);
  fold.BeginWindows();
  fold.NoteWholeEnded(kSecond);
  for (int s = 2; s < 20; ++s) fold.Advance(s * kSecond);
  fold.Finish(20 * kSecond);
  EXPECT_EQ(tables.losses[Loss::kAllocationsUncounted], 19'000u);
  recording.end_ns = 20 * kSecond;
  const profile::Profile p = analysis::Bind(recording, aggregate);
  EXPECT_TRUE(p.shown().windows.open);
  EXPECT_NEAR(p.Total().amount, 50 * profile::kSamplingMeanBytes, 0.05e6) << "sizes are classes";
  const profile::Interval interval = profile::AmountInterval(p.Total());
  EXPECT_GT(interval.low, 3.5e6);
  EXPECT_LT(interval.low, 4.5e6);
  EXPECT_EQ(interval.high, profile::kAnyNumber);
}

TEST(AllocationWindows, WithoutAnyWindowTheCounterIsAllThatIsKnown) {
  profile::Recording recording;
  recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  analysis::Aggregate aggregate(&recording);
  analysis::WindowFold fold({recording.processes[0].get(), &aggregate, 0, kSecond},
                            profile::Source::kSampled, Loss::kAllocationsUncounted);
  fold.BeginWindows();
  fold.NoteCounting(0);
  fold.OnCounted({0, kSecond, 5e9});
  fold.OnCounted({kSecond, 2 * kSecond, 6e9});
  fold.Finish(2 * kSecond);
  const profile::Profile p = analysis::Bind(recording, aggregate);
  EXPECT_DOUBLE_EQ(p.Total().amount, 11e9);
  const profile::Interval interval = profile::AmountInterval(p.Total());
  EXPECT_LT(interval.low, 11e9);
  EXPECT_GT(interval.high, 11e9);
  // Its ends are known to 10 ms of 5.5 GB/s.
  EXPECT_NEAR(interval.high - interval.low, 2 * 1.96 * 0.055e9, 1e6);
}

// A program that ends takes the last value with it.
TEST(AllocationWindows, WhatNoCounterToldMayBeMissing) {
  const auto interval = [](uint64_t uncounted_ms) {
    profile::Recording recording;
    recording.processes.push_back(std::make_unique<profile::ProcessTables>());
    analysis::Aggregate aggregate(&recording);
    analysis::WindowFold fold({recording.processes[0].get(), &aggregate, 0, kSecond},
                              profile::Source::kSampled, Loss::kAllocationsUncounted);
    fold.BeginWindows();
    fold.NoteCounting(0);
    for (int64_t s = 0; s < 10; ++s) fold.OnCounted({s * kSecond, (s + 1) * kSecond, 2e9});
    fold.Finish(10 * kSecond + static_cast<int64_t>(uncounted_ms) * 1'000'000);
    return profile::AmountInterval(analysis::Bind(recording, aggregate).Total());
  };
  EXPECT_LT(interval(0).high, 20.2e9);
  EXPECT_GT(interval(500).high, 21e9);
}

// The first value of a counter that another tool has open goes back to before windows began.
TEST(AllocationWindows, WhatWasRecordedWholeBeforeIsNotCountedTwice) {
  profile::Recording recording;
  recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  analysis::Aggregate aggregate(&recording);
  analysis::WindowFold fold({recording.processes[0].get(), &aggregate, 0, kSecond},
                            profile::Source::kSampled, Loss::kAllocationsUncounted);
  fold.RememberWhole(true);
  for (int i = 0; i < 10; ++i) fold.NoteWhole(i * kSecond / 10, 1e8);
  fold.BeginWindows();
  fold.NoteCounting(kSecond);
  fold.OnCounted({kSecond / 2, kSecond + kSecond / 2, 2e9});
  fold.Finish(2 * kSecond);
  const profile::Profile p = analysis::Bind(recording, aggregate);
  EXPECT_DOUBLE_EQ(p.Total().amount, 1.5e9);
}

}  // namespace
}  // namespace clrscope::capture
