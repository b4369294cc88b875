// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/wall/thread_samples.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "profile/tables/thread_state.h"

namespace clrscope::analysis {
namespace {

using profile::LabelKey;
using profile::Source;
using Mode = ThreadSamples::Mode;

constexpr int64_t kMs = 1'000'000, kSecond = 1'000'000'000;

// Sums by (source, thread, state).
class ThreadSamplesTest : public ::testing::Test, public profile::SliceSink {
 protected:
  void OnSlice(profile::Slice&& slice) override {
    for (const auto& row : slice.rows) {
      const profile::SeriesKey& key = tables_.series.keys()[row.series];
      const profile::LabelSet& set = tables_.labels.sets()[key.labels];
      sums_[{key.source(), set[LabelKey::kThread],
             std::string(profile::ThreadStateName(set[LabelKey::kState]))}] += row.sums;
    }
    starts_.insert(slice.start_ns);
  }
  uint64_t Ns(Source source, uint64_t thread, const std::string& state = "") {
    return sums_[{source, thread, state}].amount;
  }
  double Double(Source source, uint64_t thread, const std::string& state = "") {
    return static_cast<double>(Ns(source, thread, state));
  }
  uint64_t Samples(Source source, uint64_t thread, const std::string& state = "") {
    return sums_[{source, thread, state}].samples;
  }

  profile::ProcessTables tables_;
  std::map<std::tuple<Source, uint64_t, std::string>, profile::Sums> sums_;
  std::set<int64_t> starts_;
  ThreadSamples samples_{{&tables_, this, 0, kSecond}};
};

TEST_F(ThreadSamplesTest, ASampleStandsForTheMeanGapWithoutStops) {
  // Every 2.5 ms, with one long stop in the middle.
  for (int i = 0; i < 100; ++i) {
    const int64_t at = i * 5 * kMs / 2 + (i >= 50 ? 300 * kMs : 0);
    samples_.OnSample(7, at, 3, Mode::kManaged);
    samples_.OnSample(8, at, 4, Mode::kExternal);
  }
  samples_.Flush();
  EXPECT_EQ(samples_.period_ns(), 5 * kMs / 2);
  EXPECT_EQ(Samples(Source::kThreadCpu, 7), 100u);
  EXPECT_EQ(Ns(Source::kThreadCpu, 7), 100u * 5 * kMs / 2);
  EXPECT_EQ(Ns(Source::kThreadWall, 7, "running"), 100u * 5 * kMs / 2);
  EXPECT_EQ(Ns(Source::kThreadWall, 8, "blocked_unknown"), 100u * 5 * kMs / 2);
  EXPECT_EQ(Samples(Source::kThreadCpu, 8), 0u);
  EXPECT_EQ(tables_.source_samples[static_cast<size_t>(Source::kThreadWall)], 200u);
}

// The runtime waits until a thread that runs can be stopped, so that rounds are rarer meanwhile.
TEST_F(ThreadSamplesTest, ASampleStandsForTheTimeSinceTheRoundBefore) {
  int64_t at = 0;
  for (int i = 0; i < 200; ++i) {
    const bool runs = i % 4 == 0;
    at += runs ? 5 * kMs : kMs;
    samples_.OnSample(7, at, 3, runs ? Mode::kManaged : Mode::kExternal);
    samples_.OnSample(8, at + 1, 4, Mode::kExternal);
  }
  samples_.Flush();
  // The first round's gap is not known: the mean stands for it.
  EXPECT_NEAR(Double(Source::kThreadCpu, 7), 50.0 * 5 * kMs, 4.0 * kMs);
  EXPECT_NEAR(Double(Source::kThreadWall, 7, "blocked_unknown"), 150.0 * kMs, 1);
  EXPECT_NEAR(Double(Source::kThreadWall, 8, "blocked_unknown"), static_cast<double>(at),
              4.0 * kMs);
}

TEST_F(ThreadSamplesTest, AThreadWithoutASampleInEachRoundHasNoMoreThanItsRounds) {
  for (int i = 0; i < 100; ++i) {
    samples_.OnSample(7, i * kMs, 3, Mode::kExternal);
    if (i % 5 == 0) samples_.OnSample(8, i * kMs + 1, 4, Mode::kManaged);
  }
  samples_.Flush();
  EXPECT_EQ(Ns(Source::kThreadCpu, 8), 20u * kMs);
}

// Of thousands of threads a round may take as long.
TEST_F(ThreadSamplesTest, RoundsMayBeRare) {
  for (int i = 0; i < 60; ++i)
    for (const uint64_t thread : {7u, 8u})
      samples_.OnSample(thread, i * 300 * kMs, 3, Mode::kManaged);
  samples_.Flush();
  EXPECT_EQ(samples_.period_ns(), 300 * kMs);
  EXPECT_NEAR(Double(Source::kThreadCpu, 7), 60.0 * 300 * kMs, 301.0 * kMs);
}

TEST_F(ThreadSamplesTest, ADamagedClockIsSurvived) {
  constexpr int64_t kFar = int64_t{1} << 62;
  uint64_t thread = 7;
  for (const int64_t at : {-kFar, kFar, int64_t{0}, kFar, -kFar, 100 * kMs, 100 * kMs, 99 * kMs})
    for (int i = 0; i < 20; ++i) samples_.OnSample(7 + thread++ % 2, at, 3, Mode::kManaged);
  for (int i = 0; i < 40; ++i)
    samples_.OnSample(7, i % 2 == 0 ? -kFar / 4 : 100 * kMs, 3, Mode::kManaged);
  samples_.Flush();
  EXPECT_EQ(Samples(Source::kThreadCpu, 7) + Samples(Source::kThreadCpu, 8), 200u);
}

TEST_F(ThreadSamplesTest, ARoundThatASecondEndsInKeepsItsGap) {
  for (int i = 0; i < 100; ++i) {
    const int64_t at = kSecond - 100 * kMs + i * 2 * kMs;
    samples_.OnSample(7, at - 1, 3, Mode::kManaged);
    samples_.OnSample(8, at, 4, Mode::kManaged);
  }
  samples_.Flush();
  EXPECT_EQ(Ns(Source::kThreadCpu, 7), 100u * 2 * kMs);
  EXPECT_EQ(Ns(Source::kThreadCpu, 8), 100u * 2 * kMs);
}

TEST_F(ThreadSamplesTest, ThePeriodIsThatOfEachSecond) {
  for (int i = 0; i < 100; ++i) samples_.OnSample(7, i * kMs, 3, Mode::kManaged);
  for (int i = 0; i < 100; ++i) samples_.OnSample(7, kSecond + i * 4 * kMs, 3, Mode::kManaged);
  samples_.Flush();
  EXPECT_EQ(Ns(Source::kThreadCpu, 7), 100u * kMs + 100u * 4 * kMs);
  EXPECT_EQ(starts_, (std::set<int64_t>{0, kSecond}));
}

TEST_F(ThreadSamplesTest, OfFewGapsThePeriodBeforeGoesOn) {
  for (int i = 0; i < 100; ++i) samples_.OnSample(7, i * 3 * kMs, 3, Mode::kManaged);
  samples_.OnSample(7, kSecond + 900 * kMs, 3, Mode::kManaged);
  samples_.Flush();
  EXPECT_EQ(Ns(Source::kThreadCpu, 7), 101u * 3 * kMs);
}

TEST_F(ThreadSamplesTest, WhatTheRuntimeDoesNotKnowIsUnknown) {
  for (int i = 0; i < 20; ++i) samples_.OnSample(7, i * kMs, 3, Mode::kUnknown);
  samples_.Flush();
  EXPECT_EQ(Samples(Source::kThreadWall, 7, "unknown"), 20u);
  EXPECT_EQ(Samples(Source::kThreadCpu, 7), 0u);
}

}  // namespace
}  // namespace clrscope::analysis
