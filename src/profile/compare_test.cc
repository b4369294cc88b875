// SPDX-License-Identifier: Apache-2.0
#include "profile/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace clrscope::profile {
namespace {

// A program of `kRows` sites whose sizes differ by five orders of magnitude, as real ones do, and
// whose objects have from 24 bytes to 300 KB. What it allocates is the same in every recording; the
// sampler hits each byte with chance 1/102400.
constexpr size_t kRows = 400;
struct Site {
  double object_bytes;
  uint64_t objects;
};
std::vector<Site> SitesOfOneProgram() {
  std::vector<Site> sites;
  std::mt19937_64 random(7);
  for (size_t i = 0; i < kRows; ++i) {
    const double size = std::exp(std::uniform_real_distribution(3.2, 12.6)(random));
    const double bytes = 4e9 / std::pow(static_cast<double>(i + 1), 1.3);
    sites.push_back({size, static_cast<uint64_t>(bytes / size) + 1});
  }
  return sites;
}

Estimate Record(const Site& site, double factor, std::mt19937_64& random) {
  const auto objects = static_cast<uint64_t>(static_cast<double>(site.objects) * factor);
  std::binomial_distribution<uint64_t> hits(objects, HitProbability(site.object_bytes));
  return EstimateSampled(hits(random), site.object_bytes);
}

std::vector<Difference> CompareAll(const std::vector<Pair>& pairs, Metric metric) {
  const Spread spread = SpreadOf(pairs, metric);
  std::vector<Difference> all;
  for (const Pair& pair : pairs) all.push_back(Compare(pair, metric, Source::kSampled, spread));
  NameChanges(all);
  return all;
}

size_t Changed(const std::vector<Difference>& all) {
  return static_cast<size_t>(
      std::count_if(all.begin(), all.end(), [](const Difference& d) { return d.changed; }));
}

TEST(Compare, NamesNothingWhenNothingChanged) {
  const std::vector<Site> program = SitesOfOneProgram();
  for (const Metric metric : {Metric::kBytes, Metric::kObjects}) {
    std::mt19937_64 random(1);
    int named = 0;
    for (int round = 0; round < 400; ++round) {
      std::vector<Pair> pairs;
      for (const Site& s : program)
        pairs.push_back({{{Record(s, 1, random)}, {1}}, {{Record(s, 1, random)}, {1}}});
      named += Changed(CompareAll(pairs, metric)) != 0;
    }
    // At most 1 % by design; 13 of 400 or more would happen to a right test once in 2,000 times.
    EXPECT_LT(named, 13);
  }
}

// Windows of different length: what is compared is per second.
TEST(Compare, NamesNothingWhenOnlyTheLengthDiffers) {
  const std::vector<Site> program = SitesOfOneProgram();
  std::mt19937_64 random(2);
  int named = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<Pair> pairs;
    for (const Site& s : program) {
      if (s.objects < 10) continue;
      pairs.push_back({{{Record(s, 0.1, random)}, {static_cast<double>(s.objects / 10)}},
                       {{Record(s, 1, random)}, {static_cast<double>(s.objects)}}});
    }
    named += Changed(CompareAll(pairs, Metric::kBytes)) != 0;
  }
  EXPECT_LT(named, 13);
}

TEST(Compare, FindsTenPercentOfEightThousandSamples) {
  std::vector<Site> program = SitesOfOneProgram();
  program[0] = {64, static_cast<uint64_t>(8'000 / HitProbability(64))};
  std::mt19937_64 random(3);
  int found = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<Pair> pairs;
    for (size_t i = 0; i < program.size(); ++i)
      pairs.push_back({{{Record(program[i], 1, random)}, {1}},
                       {{Record(program[i], i == 0 ? 1.1 : 1, random)}, {1}}});
    found += CompareAll(pairs, Metric::kBytes)[0].changed;
  }
  EXPECT_GE(found, 190);
}

// The interval of the difference holds the true one: 5 % of 400 rows, many of few samples.
TEST(Compare, IntervalsOfDifferencesHoldTheTruth) {
  const std::vector<Site> program = SitesOfOneProgram();
  std::mt19937_64 random(4);
  int inside = 0, all = 0;
  for (int round = 0; round < 100; ++round)
    for (const Site& s : program) {
      if (static_cast<double>(s.objects) * HitProbability(s.object_bytes) < 5) continue;
      const Pair pair{{{Record(s, 1, random)}, {1}}, {{Record(s, 1.3, random)}, {1}}};
      const Difference d = Compare(pair, Metric::kBytes, Source::kSampled, {});
      const double truth =
          (std::floor(static_cast<double>(s.objects) * 1.3) - static_cast<double>(s.objects)) *
          s.object_bytes;
      ++all;
      inside += d.difference_interval.low <= truth && truth <= d.difference_interval.high;
    }
  ASSERT_GT(all, 5'000);
  EXPECT_GE(inside, 0.94 * all);
}

TEST(Compare, WhatWasNotSampledHasAnUpperBound) {
  const Pair pair{{{Estimate{}}, {1}}, {{EstimateSampled(20, 100)}, {1}}};
  const Difference d = Compare(pair, Metric::kBytes, Source::kSampled, {});
  EXPECT_EQ(d.before, 0);
  EXPECT_NEAR(d.before_interval.high, 3.69 * 102450, 1000);  // 3.69 events: 95 % of Poisson zeros
  EXPECT_FALSE(d.ratio());
  EXPECT_LT(*d.p_value, 1e-5);
  EXPECT_GT(d.difference_interval.low, 0);
}

// Two runs of the same program differ by 10 %: three a side tell, one a side cannot.
TEST(Compare, ASpreadBetweenRunsIsNoChange) {
  const std::vector<Site> program = SitesOfOneProgram();
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(1, 0.1);
  int named = 0, named_blindly = 0, found = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<Pair> pairs, blind;
    for (size_t i = 0; i < program.size(); ++i) {
      Pair pair;
      for (int run = 0; run < 3; ++run) {
        pair.before.runs.push_back(Record(program[i], noise(random), random));
        pair.after.runs.push_back(Record(program[i], (i == 5 ? 3 : 1) * noise(random), random));
        pair.before.exposures.push_back(1);
        pair.after.exposures.push_back(1);
      }
      if (i != 5) blind.push_back({{{pair.before.runs[0]}, {1}}, {{pair.after.runs[0]}, {1}}});
      pairs.push_back(std::move(pair));
    }
    std::vector<Difference> all = CompareAll(pairs, Metric::kBytes);
    found += all[5].changed;
    all.erase(all.begin() + 5);
    named += Changed(all) != 0;
    named_blindly += Changed(CompareAll(blind, Metric::kBytes)) != 0;
  }
  EXPECT_LE(named, 10);  // 95 of 100
  EXPECT_GE(found, 180);
  EXPECT_GE(named_blindly, 190);  // which is why several recordings are asked for
}

TEST(Compare, CountsAreCertain) {
  Estimate a, b;
  a.samples = b.samples = 1;
  a.bytes = 1000;
  b.bytes = 1001;
  EXPECT_EQ(*Compare({{{a}, {1}}, {{a}, {1}}}, Metric::kBytes, Source::kCounted, {}).p_value, 1);
  const Difference d = Compare({{{a}, {1}}, {{b}, {1}}}, Metric::kBytes, Source::kCounted, {});
  EXPECT_EQ(*d.p_value, 0);
  EXPECT_EQ(d.difference_interval.low, 1);
  EXPECT_EQ(d.difference_interval.high, 1);
}

TEST(Compare, TicksClaimNothing) {
  const Pair pair{{{EstimateTick(10, 1e6, 100)}, {1}}, {{EstimateTick(90, 9e6, 100)}, {1}}};
  std::vector<Difference> all{Compare(pair, Metric::kBytes, Source::kTick, {})};
  EXPECT_FALSE(all[0].has_interval);
  NameChanges(all);
  EXPECT_FALSE(all[0].changed);
}

TEST(NameChanges, IsHolmsProcedure) {
  std::vector<Difference> d(4);
  const double p[] = {0.004, 0.002, 0.5, 0.0045};
  for (size_t i = 0; i < 4; ++i) {
    d[i].difference = 1;
    d[i].p_value = p[i];
  }
  NameChanges(d, 0.01);
  // 0.002 <= 0.01/4; 0.004 > 0.01/3 stops it, although 0.0045 <= 0.01/2.
  EXPECT_FALSE(d[0].changed);
  EXPECT_TRUE(d[1].changed);
  EXPECT_FALSE(d[2].changed);
  EXPECT_FALSE(d[3].changed);
}

}  // namespace
}  // namespace clrscope::profile
