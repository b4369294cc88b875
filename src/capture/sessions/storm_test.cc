// SPDX-License-Identifier: Apache-2.0
// Storms of exceptions: when they are noticed, when windows are opened, and the estimator against
// simulated programs whose throws are known.
//
// Tolerances. As in profile/estimate/sampling_simulator_test.cc: 0.93 where 0.95 is promised, for
// rows that rest on as many windows as the promise asks for.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "capture/testing/storm_simulator.h"

namespace clrscope::capture {
namespace {

using testing::StormProgram;
using testing::StormSimulator;
constexpr int64_t kMs = 1'000'000, kSecond = 1'000'000'000;

class StormFoldTest : public ::testing::Test {
 protected:
  profile::ProcessTables tables_;
  struct Slices final : profile::SliceSink {
    std::vector<profile::Slice> all;
    void OnSlice(profile::Slice&& s) override { all.push_back(std::move(s)); }
  } slices_;
  analysis::StormFold fold_{{&tables_, &slices_, 0, kSecond}};

  // A storm whose windows and counter begin at 0.
  void BeginAtZero() {
    fold_.BeginStorm();
    fold_.NoteCounting(0);
    fold_.NoteWholeEnded(0);
  }
  // Time passes without a value of the counter.
  void AdvanceTo(int64_t from_ns, int64_t to_ns) {
    for (int64_t at = from_ns; at <= to_ns; at += 100 * kMs) fold_.Advance(at);
  }

  // Sums by LabelKey::kWindow.
  std::map<uint64_t, profile::Sums> ByWindow() const {
    std::map<uint64_t, profile::Sums> sums;
    for (const profile::Slice& s : slices_.all)
      for (const profile::SliceRow& r : s.rows)
        sums[tables_.labels
                 .sets()[tables_.series.keys()[r.series].labels][profile::LabelKey::kWindow]] +=
            r.sums;
    return sums;
  }
};

TEST_F(StormFoldTest, TenThousandWithinASecondAreNoStormAndOneMoreIs) {
  for (int i = 0; i < 10'000; ++i) fold_.OnWhole(5 * kSecond + i * 80'000);
  EXPECT_FALSE(fold_.stormy());
  fold_.OnWhole(5 * kSecond + 850 * kMs);
  EXPECT_TRUE(fold_.stormy());
}

TEST_F(StormFoldTest, ASteadyRateBelowTheLimitIsNeverOne) {
  for (int64_t i = 0; i < 100'000; ++i) fold_.OnWhole(i * 101'000);  // 9,900 a second
  EXPECT_FALSE(fold_.stormy());
}

TEST_F(StormFoldTest, WhatWasRecordedWholeIsNotCountedTwice) {
  fold_.BeginStorm();
  fold_.NoteCounting(kSecond);
  for (int64_t i = 0; i < 300; ++i) fold_.OnWhole(kSecond / 2 + i * 5 * kMs);  // 200 of them later
  fold_.OnCounted({kSecond, 2 * kSecond, 1'000});
  fold_.OnCounted({2 * kSecond, 3 * kSecond, 50});
  fold_.Finish(3 * kSecond);
  EXPECT_EQ(ByWindow()[profile::kStormCounted].stands_for, 1'000u - 200 + 50);
}

TEST_F(StormFoldTest, AWindowIsWeightedByTheShareOfTimeThatItIs) {
  fold_.BeginStorm();
  for (uint64_t group = 1; group <= 3; ++group) {
    for (int i = 0; i < 7; ++i) fold_.OnWindowed(10, 1, 5, false);
    fold_.OnWindowed(11, 2, 5, true);
    const auto at = static_cast<int64_t>(group) * kSecond;
    fold_.EndWindow(group, at, at + 30 * kMs, 1'002 * kMs);
  }
  fold_.Finish(4 * kSecond);
  const auto sums = ByWindow();
  double weighted = 0;
  for (uint64_t group = 1; group <= 3; ++group) {
    EXPECT_EQ(sums.at(group).samples, 8u);
    EXPECT_NEAR(static_cast<double>(sums.at(group).stands_for), 7 * 33.4, 1);
    EXPECT_NEAR(static_cast<double>(sums.at(group).amount), 33.4, 1);
    weighted += static_cast<double>(sums.at(group).stands_for + sums.at(group).amount);
  }
  EXPECT_NEAR(weighted, 3 * 8 * 33.4, 1) << "what is rounded off goes on to the next row";
  EXPECT_EQ(sums.at(profile::kStormWindows + 1).samples, 1u);
}

TEST_F(StormFoldTest, ACounterThatIsSetBackIsALossAndALateValueIsNone) {
  fold_.BeginStorm();
  int64_t at = kSecond;
  for (int i = 0; i < 10; ++i) {
    const int64_t late = i == 4 ? 150 * kMs : 0;  // written late, measured in time
    fold_.OnCounted({at + late, at + late + kSecond, 100});
    at += kSecond;
  }
  EXPECT_EQ(tables_.losses[Loss::kStormUncounted], 0u);
  at += 400 * kMs;  // another tool has set it back
  for (int i = 0; i < 5; ++i, at += kSecond) fold_.OnCounted({at, at + kSecond, 100});
  EXPECT_EQ(tables_.losses[Loss::kStormUncounted], 400u);
}

// A window of 60 throws each second, of 600 a second.
TEST_F(StormFoldTest, ACounterThatStandsStillIsLeftOutFromThenOn) {
  BeginAtZero();
  for (int64_t s = 0; s < 12; ++s) {
    for (int i = 0; i < 60; ++i) fold_.OnWindowed(10, 1, 5, false);
    const int64_t at = s * kSecond + 400 * kMs;
    fold_.EndWindow(1 + static_cast<uint64_t>(s), at, at + 100 * kMs, kSecond);
    fold_.OnCounted({s * kSecond, (s + 1) * kSecond, s < 6 ? 600.0 : 0.0});
    // Two values beside a window may have what it holds.
    EXPECT_DOUBLE_EQ(fold_.recent().back().per_second(), s < 6 || s > 7 ? 600 : 0) << s;
  }
  fold_.Finish(12 * kSecond);
  const auto sums = ByWindow();
  EXPECT_EQ(sums.at(profile::kStormCounted).stands_for, 6u * 600);
  EXPECT_EQ(sums.at(profile::kStormCounted).amount, 7u * kSecond);
  EXPECT_EQ(sums.at(profile::kStormUncounted).amount, 5u * kSecond);
  EXPECT_EQ(sums.at(profile::kStormUncounted).stands_for, 5u) << "it did tell";
  EXPECT_EQ(tables_.losses[Loss::kStormUncounted], 5'000u);
}

TEST_F(StormFoldTest, ACounterThatGoesBackIsLeftOut) {
  fold_.BeginStorm();
  fold_.NoteCounting(0);
  for (int64_t s = 0; s < 4; ++s)
    fold_.OnCounted({s * kSecond, (s + 1) * kSecond, s == 2 ? -500.0 : 100.0});
  fold_.Finish(4 * kSecond);
  EXPECT_EQ(ByWindow()[profile::kStormCounted].stands_for, 100u);
  EXPECT_EQ(ByWindow()[profile::kStormUncounted].samples, 3u);
}

// What comes at the edge of two values may be in either.
TEST_F(StormFoldTest, ABurstBetweenTwoValuesContradictsNeither) {
  fold_.BeginStorm();
  fold_.NoteCounting(0);
  for (int i = 0; i < 5'000; ++i) fold_.OnWindowed(10, 1, 5, false);
  fold_.EndWindow(1, kSecond + 900 * kMs, kSecond + 990 * kMs, kSecond);
  for (int64_t s = 0; s < 6; ++s)
    fold_.OnCounted({s * kSecond, (s + 1) * kSecond, s == 2 ? 5'000.0 : 0.0});
  fold_.Finish(6 * kSecond);
  EXPECT_FALSE(ByWindow().contains(profile::kStormUncounted));
}

TEST_F(StormFoldTest, TimeOfWhichNoCounterTellsIsMarked) {
  fold_.BeginStorm();
  EXPECT_TRUE(fold_.recent().empty());
  fold_.NoteWholeEnded(2 * kSecond);
  for (int i = 0; i < 50; ++i) fold_.OnWindowed(10, 1, 5, false);
  fold_.EndWindow(1, 3 * kSecond, 3 * kSecond + 10 * kMs, 7 * kSecond);
  AdvanceTo(2 * kSecond, 12 * kSecond - 100 * kMs);
  ASSERT_EQ(fold_.recent().size(), 1u) << "how much there is, the windows say";
  EXPECT_DOUBLE_EQ(fold_.recent().front().per_second(), 5'000);
  fold_.NoteStop(12 * kSecond + 500 * kMs);
  fold_.Finish(13 * kSecond);
  const auto sums = ByWindow();
  EXPECT_EQ(sums.at(profile::kStormUncounted).amount, 10u * kSecond + 500 * kMs);
  EXPECT_EQ(sums.at(profile::kStormUncounted).stands_for, 0u);
  EXPECT_EQ(sums.at(profile::kStormWindows + 1).stands_for, 7u * kSecond);
  EXPECT_EQ(tables_.losses[Loss::kStormUncounted], 10'500u);
}

TEST_F(StormFoldTest, ACounterThatStopsLeavesTheRestUnknown) {
  fold_.BeginStorm();
  fold_.NoteCounting(0);
  fold_.OnCounted({0, kSecond, 100});
  fold_.OnCounted({kSecond, 2 * kSecond, 100});
  AdvanceTo(2 * kSecond, 20 * kSecond - 100 * kMs);
  fold_.OnCounted({20 * kSecond, 21 * kSecond, 100});
  fold_.Finish(21 * kSecond);
  EXPECT_EQ(ByWindow()[profile::kStormCounted].stands_for, 300u);
  EXPECT_EQ(ByWindow()[profile::kStormUncounted].amount, 18u * kSecond);
}

// Its next value is of all of that time.
TEST_F(StormFoldTest, AProgramThatStoodStillHasNoTimeWithoutACounter) {
  BeginAtZero();
  fold_.OnCounted({0, kSecond, 100});
  fold_.OnCounted({kSecond, 2 * kSecond, 100});
  AdvanceTo(2 * kSecond, 32 * kSecond - 100 * kMs);
  fold_.OnCounted({2 * kSecond, 32 * kSecond, 150});
  fold_.OnCounted({32 * kSecond, 33 * kSecond, 100});
  fold_.Finish(33 * kSecond);
  EXPECT_EQ(ByWindow()[profile::kStormCounted].amount, 33u * kSecond);
  EXPECT_EQ(ByWindow()[profile::kStormCounted].stands_for, 450u);
  EXPECT_FALSE(ByWindow().contains(profile::kStormUncounted));
}

// As of a value that was on its way when the recording was rotated.
TEST_F(StormFoldTest, OfTimeThatIsMarkedAValueCountsNothingMore) {
  BeginAtZero();
  fold_.OnCounted({0, 2 * kSecond, 200});
  AdvanceTo(2 * kSecond, 8 * kSecond);
  fold_.Flush(8 * kSecond);
  fold_.OnCounted({4 * kSecond, 5 * kSecond, 100});
  fold_.OnCounted({5 * kSecond, 9 * kSecond, 400});
  fold_.Finish(9 * kSecond);
  EXPECT_EQ(ByWindow()[profile::kStormUncounted].amount, 6u * kSecond);
  EXPECT_EQ(ByWindow()[profile::kStormCounted].amount, 3u * kSecond);
  EXPECT_EQ(ByWindow()[profile::kStormCounted].stands_for, 300u);
}

// Before the recording ends, too: of top, or where clrscope is killed.
TEST_F(StormFoldTest, WindowsThatSawSomethingMarkTheTimeBeforeThem) {
  BeginAtZero();
  for (int64_t s = 0; s < 3; ++s) fold_.OnCounted({s * kSecond, (s + 1) * kSecond, 100});
  for (int64_t s = 3; s < 30; ++s) {
    fold_.OnWindowed(10, 1, 5, false);
    fold_.EndWindow(1, s * kSecond, s * kSecond + 100 * kMs, kSecond);
    fold_.Advance((s + 1) * kSecond);
  }
  EXPECT_GT(ByWindow()[profile::kStormUncounted].amount, 18u * kSecond);
  EXPECT_LE(ByWindow()[profile::kStormUncounted].amount, 27u * kSecond);
}

// As when clrscope was suspended.
TEST_F(StormFoldTest, WindowsThatBreakOffMarkNothingMore) {
  BeginAtZero();
  fold_.OnCounted({0, kSecond, 100});
  AdvanceTo(kSecond, 20 * kSecond);
  fold_.Stop();
  EXPECT_FALSE(ByWindow().contains(profile::kStormUncounted));
  EXPECT_EQ(ByWindow()[profile::kStormCounted].stands_for, 100u);
}

// It is not known when it stopped, or ended: what it did not tell is no longer than it ran.
TEST_F(StormFoldTest, WhatComesAfterTheLastEventIsNotMarked) {
  BeginAtZero();
  for (int64_t s = 0; s < 5; ++s) fold_.OnCounted({s * kSecond, (s + 1) * kSecond, 100});
  AdvanceTo(5 * kSecond, 60 * kSecond);
  fold_.Finish(5 * kSecond + 800 * kMs);
  EXPECT_EQ(ByWindow()[profile::kStormUncounted].amount, 800u * kMs);
}

// A window that was read late is of none of the values that are settled then.
TEST_F(StormFoldTest, AWindowThatWasReadLateContradictsNothing) {
  fold_.BeginStorm();
  fold_.NoteCounting(0);
  for (int64_t s = 0; s < 8; ++s) {
    if (s == 4) {
      for (int i = 0; i < 5'000; ++i) fold_.OnWindowed(10, 1, 5, false);
      fold_.EndWindow(1, 500 * kMs, 600 * kMs, kSecond);
    }
    fold_.OnCounted({s * kSecond, (s + 1) * kSecond, s == 0 ? 5'000.0 : 10.0});
  }
  fold_.Finish(8 * kSecond);
  EXPECT_FALSE(ByWindow().contains(profile::kStormUncounted));
}

// The first value may come in the next recording, and be of what this one has event by event.
TEST_F(StormFoldTest, WhatWasRecordedWholeIsNotCountedTwiceAfterARotation) {
  fold_.BeginStorm();
  fold_.NoteCounting(kSecond / 2);
  for (int64_t i = 0; i < 300; ++i) fold_.OnWhole(kSecond / 2 + i * kMs);
  fold_.Flush(kSecond);
  fold_.OnCounted({kSecond / 2, kSecond + kSecond / 2, 1'000});
  fold_.Finish(kSecond + kSecond / 2);
  EXPECT_EQ(ByWindow()[profile::kStormCounted].stands_for, 700u);
}

TEST_F(StormFoldTest, AnEndOfNoTimeAtAllIsMarkedInPieces) {
  fold_.BeginStorm();
  fold_.NoteWholeEnded(0);
  fold_.Finish(int64_t{1} << 62);  // a damaged time
  EXPECT_LE(slices_.all.size(), 200'001u);
}

// Before .NET 11 the total of allocated bytes is one over the heaps that the GC uses.
TEST(WindowFoldHeaps, ASumOverHeapsIsWrongOnceTheirNumberChanges) {
  for (const bool over_heaps : {true, false}) {
    profile::ProcessTables tables;
    struct None final : profile::SliceSink {
      void OnSlice(profile::Slice&&) override {}
    } none;
    analysis::WindowFold fold({&tables, &none, 0, kSecond}, profile::Source::kSampled,
                              Loss::kAllocationsUncounted);
    fold.SetOverHeaps(over_heaps);
    fold.NoteHeaps(2);
    fold.NoteHeaps(1);  // nothing counts yet
    fold.BeginWindows();
    fold.NoteCounting(0);
    fold.NoteHeaps(1);
    fold.OnCounted({0, kSecond, 100});
    fold.OnCounted({kSecond, 2 * kSecond, 100});
    EXPECT_EQ(tables.losses[Loss::kAllocationsUncounted], 0u);
    fold.NoteHeaps(2);
    fold.OnCounted({2 * kSecond, 3 * kSecond, 100});
    fold.OnCounted({3 * kSecond, 4 * kSecond, 100});
    fold.Finish(4 * kSecond);
    EXPECT_EQ(tables.losses[Loss::kAllocationsUncounted], over_heaps ? 3'000u : 0u);
  }
}

TEST_F(StormFoldTest, AWindowThatWasCutShortCountsNothing) {
  fold_.BeginStorm();
  fold_.OnWindowed(10, 1, 5, false);
  fold_.CancelWindow();
  fold_.EndWindow(1, kSecond, kSecond + 30 * kMs, kSecond);
  fold_.OnWindowed(10, 1, 5, false);
  fold_.EndWindow(2, 2 * kSecond, 2 * kSecond + 30 * kMs, kSecond);
  fold_.Finish(4 * kSecond);
  EXPECT_FALSE(ByWindow().contains(1));
  EXPECT_EQ(ByWindow()[2].samples, 1u);
}

TEST_F(StormFoldTest, ThreadsWithoutEndLoseTheirLabelAndNotTheirWindow) {
  fold_.BeginStorm();
  for (uint64_t thread = 1; thread <= 70'000; ++thread) fold_.OnWindowed(10, 1, thread, false);
  fold_.EndWindow(1, kSecond, kSecond + 100 * kMs, kSecond);
  fold_.Finish(4 * kSecond);
  EXPECT_EQ(ByWindow()[1].samples, 70'000u);
  EXPECT_GT(tables_.losses[Loss::kLabelsCapped], 0u);
}

TEST(StormWatch, WindowsBeginAnywhereInTheirSecondAndAreAsLongAsTheRateAllows) {
  StormWatch watch(7);
  EXPECT_EQ(StormWatch::Length(100'000), 25 * kMs);
  EXPECT_EQ(StormWatch::Length(3'000), StormWatch::kLongestNs);
  EXPECT_EQ(StormWatch::Length(10'000'000), StormWatch::kShortestNs);
  constexpr int kWindows = 4'000;
  int64_t now = watch.Next(3 * kSecond, 0, 50'000).begin_ns;
  std::array<int, 10> tenths{};
  std::map<uint64_t, int> groups;
  int64_t last = now / kSecond;
  for (int i = 0; i < kWindows; ++i) {
    const StormWatch::Window w = watch.Next(now, 0, 50'000);
    EXPECT_EQ(w.begin_ns / kSecond, last + 1);
    last = w.begin_ns / kSecond;
    ++tenths[static_cast<size_t>(w.begin_ns % kSecond / (kSecond / 10))];
    ++groups[w.group];
    now = w.begin_ns;
  }
  // Binomial of 4,000 and a tenth: 400, standard deviation 19; four of them.
  for (const int n : tenths) EXPECT_NEAR(n, 400, 76);
  ASSERT_EQ(groups.size(), 16u);
  for (const auto& [group, n] : groups) EXPECT_NEAR(n, kWindows / 16, 1) << group;
}

constexpr int kRuns = 16;

TEST(StormEstimator, TotalsAreTheCountersAndIntervalsCover) {
  for (const StormProgram& p : testing::StormPrograms()) {
    if (p.seconds > 1'000) continue;
    std::vector<int> covered(p.types), seen(p.types);
    std::vector<double> error(p.types), error2(p.types);
    for (int run = 0; run < kRuns; ++run) {
      StormSimulator simulator(p.types, 1'000 + static_cast<uint64_t>(run));
      const StormSimulator::Outcome o = simulator.Run(p.program, p.seconds);
      EXPECT_NEAR(o.estimated, o.thrown, 1e-6 * o.thrown) << p.name;
      EXPECT_LT(static_cast<double>(o.recorded), 0.4 * o.thrown) << p.name;
      for (size_t i = 0; i < p.types; ++i) {
        const StormSimulator::Figure& f = o.types[i];
        const double off = f.value.count / f.truth - 1;
        error[i] += off;
        error2[i] += off * off;
        if (f.value.samples == 0) continue;
        ++seen[i];
        covered[i] += f.truth >= f.interval.low - 1 && f.truth <= f.interval.high + 1;
      }
    }
    for (size_t i = 0; i < p.types; ++i) {
      const double mean = error[i] / kRuns;
      const double se = std::sqrt((error2[i] / kRuns - mean * mean) / kRuns);
      // How long a window was is known to half a millisecond of 25 to 200.
      EXPECT_LE(std::fabs(mean), 0.02 + 3 * se) << p.name << ", type " << i;
      // Of 16 intervals five miss with a chance of 1 in 1,000, if each does with 5 %.
      EXPECT_GE(covered[i], seen[i] - 4) << p.name << ", type " << i;
    }
  }
}

// Throws of before are in the counter and were recorded as well. A short storm has few windows.
TEST(StormEstimator, WhereTheCounterBeginsIsKnownToMilliseconds) {
  for (const int64_t seconds : {30, 5}) {
    StormSimulator simulator(1, 3);
    simulator.SetEarly(8 * kMs);
    const StormSimulator::Outcome o = simulator.Run(
        [](int64_t s, std::mt19937_64& r, std::vector<StormSimulator::Throw>& t) {
          testing::Spread(t, r, 60'000, s * kSecond, kSecond, 0);
        },
        seconds);
    EXPECT_NEAR(o.estimated - o.thrown, 0.008 * 60'000, 100) << "Poisson, four standard errors";
    EXPECT_LE(o.all.interval.low, o.thrown) << seconds;
    EXPECT_GE(o.all.interval.high, o.thrown) << seconds;
    EXPECT_GE(o.all.interval.high, o.estimated) << seconds;
    // 10 ms of 60,000 a second, to both sides.
    EXPECT_LE(o.all.interval.high, o.estimated + 2 * 600) << seconds;
    if (seconds > 10) {
      EXPECT_GE(o.all.interval.low, o.estimated - 2 * 600);
    }
  }
}

TEST_F(StormFoldTest, NoCounterNeedsToTellOfWhatComesAfterTheStop) {
  fold_.BeginStorm();
  fold_.NoteCounting(kSecond);
  fold_.OnCounted({kSecond, 2 * kSecond, 1'000});
  fold_.NoteStop(2 * kSecond - 100 * kMs);
  fold_.Finish(2 * kSecond + 600 * kMs);  // of a rundown
  EXPECT_EQ(tables_.losses[Loss::kStormUncounted], 0u);
}

// As after a suspension of clrscope.
TEST_F(StormFoldTest, AStormAfterAStopGoesOnBeyondIt) {
  fold_.NoteStop(kSecond);
  fold_.BeginStorm();
  fold_.NoteCounting(2 * kSecond);
  fold_.OnCounted({2 * kSecond, 3 * kSecond, 1'000});
  fold_.Finish(3 * kSecond + 400 * kMs);
  EXPECT_EQ(tables_.losses[Loss::kStormUncounted], 400u);
}

TEST_F(StormFoldTest, WhatComesBetweenTheLastValueAndTheStopIsALoss) {
  fold_.BeginStorm();
  fold_.NoteCounting(kSecond);
  fold_.OnCounted({kSecond, 2 * kSecond, 1'000});
  fold_.NoteStop(2 * kSecond + 300 * kMs);
  fold_.Finish(2 * kSecond + 600 * kMs);
  EXPECT_EQ(tables_.losses[Loss::kStormUncounted], 300u);
}

TEST(StormEstimator, OfASecondNothingIsPromisedButWhatWasSeenAndWhatWasCounted) {
  StormSimulator simulator(3, 5);
  const StormSimulator::Outcome o = simulator.Run(
      [](int64_t s, std::mt19937_64& r, std::vector<StormSimulator::Throw>& t) {
        testing::Spread(t, r, 20, s * kSecond, kSecond, 0);
        if (s != 30) return;
        testing::Spread(t, r, 60'000, s * kSecond, kSecond, 1);
        testing::Spread(t, r, 600, s * kSecond, kSecond, 2);
      },
      60);
  EXPECT_NEAR(o.estimated, o.thrown, 1);
  EXPECT_GT(o.recorded, 10'000u);
  EXPECT_LT(o.recorded, 30'000u);
  for (const StormSimulator::Figure& f : o.types) {
    EXPECT_LE(f.interval.low, f.truth);
    EXPECT_GE(f.interval.high, f.truth);
    EXPECT_GT(f.interval.low, 0);
  }
}

}  // namespace
}  // namespace clrscope::capture
