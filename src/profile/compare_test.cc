// SPDX-License-Identifier: Apache-2.0
#include "profile/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
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
  for (const Metric metric : {Metric::kAmount, Metric::kCount}) {
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
    named += Changed(CompareAll(pairs, Metric::kAmount)) != 0;
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
    found += CompareAll(pairs, Metric::kAmount)[0].changed;
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
      const Difference d = Compare(pair, Metric::kAmount, Source::kSampled, {});
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
  const Difference d = Compare(pair, Metric::kAmount, Source::kSampled, {});
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
    std::vector<Difference> all = CompareAll(pairs, Metric::kAmount);
    found += all[5].changed;
    all.erase(all.begin() + 5);
    named += Changed(all) != 0;
    named_blindly += Changed(CompareAll(blind, Metric::kAmount)) != 0;
  }
  EXPECT_LE(named, 10);  // 95 of 100
  EXPECT_GE(found, 180);
  EXPECT_GE(named_blindly, 190);  // which is why several recordings are asked for
}

TEST(Compare, CountsAreCertain) {
  Estimate a, b;
  a.samples = b.samples = 1;
  a.amount = 1000;
  b.amount = 1001;
  EXPECT_EQ(*Compare({{{a}, {1}}, {{a}, {1}}}, Metric::kAmount, Source::kCounted, {}).p_value, 1);
  const Difference d = Compare({{{a}, {1}}, {{b}, {1}}}, Metric::kAmount, Source::kCounted, {});
  EXPECT_EQ(*d.p_value, 0);
  EXPECT_EQ(d.difference_interval.low, 1);
  EXPECT_EQ(d.difference_interval.high, 1);
}

TEST(Compare, TicksClaimNothing) {
  const Pair pair{{{EstimateTick(10, 1e6, 100)}, {1}}, {{EstimateTick(90, 9e6, 100)}, {1}}};
  std::vector<Difference> all{Compare(pair, Metric::kAmount, Source::kTick, {})};
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

// `count` waits of `each_ns` in all.
Estimate Waits(double count, double each_ns) {
  Estimate e;
  e.samples = static_cast<uint64_t>(count);
  e.count = e.seen_count = count;
  e.amount = e.seen_amount = count * each_ns;
  return e;
}
Pair OneEach(double before, double after) {
  return {{{Waits(before, 1e6)}, {1}}, {{Waits(after, 1e6)}, {1}}};
}

TEST(Compare, FewEventsMoreOrLessAreNoChange) {
  for (const auto& [before, after, changed] : {std::tuple{3, 5, false},
                                               {0, 3, false},
                                               {1000, 1010, false},
                                               {0, 20, true},
                                               {20, 0, true},
                                               {1000, 1300, true}}) {
    Difference d = Compare(OneEach(before, after), Metric::kCount, Source::kContention, {});
    NameChanges({&d, 1});
    EXPECT_EQ(d.changed, changed) << before << " " << after << " p " << *d.p_value;
    EXPECT_TRUE(d.has_interval);
    EXPECT_EQ(d.before_interval.low, before) << "exact for its run";
    EXPECT_EQ(d.after_interval.high, after);
    EXPECT_LT(d.difference_interval.low, d.difference);
    EXPECT_GT(d.difference_interval.high, d.difference);
  }
}

// CPU time is a sum of samples that stand for about the same each.
TEST(Compare, TimeByAClockIsAsSureAsItsSamples) {
  const auto time = [](int samples) {
    Estimate e;
    e.samples = static_cast<uint64_t>(samples);
    e.count = e.seen_count = samples;
    e.amount = samples * 1e7;
    return e;
  };
  for (const auto& [before, after, changed] :
       {std::tuple{100, 110, false}, {1000, 1300, true}, {0, 3, false}, {0, 30, true}}) {
    Difference d = Compare({{{time(before)}, {1}}, {{time(after)}, {1}}}, Metric::kAmount,
                           Source::kCpuClock, {});
    NameChanges({&d, 1});
    ASSERT_TRUE(d.p_value && d.has_interval);
    EXPECT_EQ(d.changed, changed) << before << " " << after << " p " << *d.p_value;
    const double wide = 1.96 * std::sqrt(static_cast<double>(before + after)) * 1e7;
    EXPECT_NEAR(d.difference_interval.high - d.difference, wide, 0.02 * wide);
  }
}

// Throws of a storm are as a counter says, which has an error of its own.
TEST(Compare, WhatACounterSaysIsAsSureAsTheCounter) {
  const auto storm = [](double count) {
    Estimate e;
    e.samples = 40'000;
    e.count = count;
    e.seen_count = 40'000;
    e.var_count = 600.0 * 600;
    e.windows.Make();
    return e;
  };
  const auto compare = [&storm](double before, double after) {
    return Compare({{{storm(before)}, {1}}, {{storm(after)}, {1}}}, Metric::kCount,
                   Source::kException, {.chance = 0});
  };
  EXPECT_GT(*compare(720'000, 721'500).p_value, 0.05) << "1.8 standard errors";
  EXPECT_LT(*compare(720'000, 723'500).p_value, 0.001);
}

// Rethrows are the amount of exceptions, and a number too.
TEST(Compare, AmountsThatAreNumbersAreLikeCounts) {
  Estimate few, many;
  few.samples = many.samples = 500;
  few.amount = 3;
  many.amount = 5;
  const Difference d =
      Compare({{{few}, {1}}, {{many}, {1}}}, Metric::kAmount, Source::kException, {});
  ASSERT_TRUE(d.p_value);
  EXPECT_GT(*d.p_value, 0.5);
}

TEST(Compare, OneRunSaysNothingOfHowLongOthersWait) {
  const Pair pair = OneEach(1000, 100);
  const Difference d = Compare(pair, Metric::kAmount, Source::kContention,
                               SpreadOf({&pair, 1}, Metric::kAmount, Source::kContention));
  EXPECT_FALSE(d.p_value);
  EXPECT_FALSE(d.has_interval);
  EXPECT_EQ(d.difference, -900e6);
}

// Runs that come by chance alone: 60 sites with 1 to 3,000 waits, whose lengths fall off
// exponentially. `more`: of the first site after.
std::vector<Difference> CompareWaits(Metric metric, size_t runs, double more,
                                     std::mt19937_64& random) {
  std::vector<Pair> pairs;
  for (int i = 0; i < 60; ++i) {
    const double mean = 3000 / std::pow(i + 1.0, 2) + 1;
    const auto run = [&](double factor) {
      const int n = std::poisson_distribution(mean * factor)(random);
      double ns = 0;
      for (int wait = 0; wait < n; ++wait) ns += std::exponential_distribution(1e-6)(random);
      return Waits(n, n == 0 ? 0 : ns / n);
    };
    Pair pair;
    for (size_t r = 0; r < runs; ++r) {
      pair.before.runs.push_back(run(1));
      pair.after.runs.push_back(run(i == 0 ? more : 1));
      pair.before.exposures.push_back(1);
      pair.after.exposures.push_back(1);
    }
    pairs.push_back(pair);
  }
  const Spread spread = SpreadOf(pairs, metric, Source::kContention);
  std::vector<Difference> all;
  for (const Pair& pair : pairs) all.push_back(Compare(pair, metric, Source::kContention, spread));
  NameChanges(all);
  return all;
}

TEST(Compare, WaitsOfRunsThatAreAlikeAreNamedRarely) {
  for (const Metric metric : {Metric::kCount, Metric::kAmount})
    for (const size_t runs : {1u, 3u}) {
      std::mt19937_64 random(11);
      int named = 0, found = 0;
      for (int round = 0; round < 300; ++round) {
        named += Changed(CompareWaits(metric, runs, 1, random)) != 0;
        found += CompareWaits(metric, runs, 1.3, random)[0].changed;
      }
      // 1 % by design; 11 of 300 or more would happen to a right test once in 2,000 times.
      EXPECT_LT(named, 11) << runs << (metric == Metric::kCount ? " counts" : " times");
      if (metric == Metric::kCount || runs > 1) {
        EXPECT_GT(found, 270) << runs;
      }
    }
}

// A program that does the same in every run: what several runs agree on is more than chance.
TEST(Compare, RunsThatAgreeMakeSmallDifferencesChanges) {
  std::vector<Pair> pairs;
  for (int i = 0; i < 40; ++i) {
    const double after = i == 0 ? 15 : 10;
    pairs.push_back({{{Waits(10, 1e6), Waits(10, 1e6), Waits(10, 1e6)}, {1, 1, 1}},
                     {{Waits(after, 1e6), Waits(after, 1e6), Waits(after, 1e6)}, {1, 1, 1}}});
  }
  for (const Metric metric : {Metric::kCount, Metric::kAmount}) {
    const Spread spread = SpreadOf(pairs, metric, Source::kWait);
    EXPECT_LT(spread.chance, 0.1);
    std::vector<Difference> all;
    for (const Pair& pair : pairs) all.push_back(Compare(pair, metric, Source::kWait, spread));
    NameChanges(all);
    EXPECT_TRUE(all[0].changed);
    EXPECT_EQ(Changed(all), 1u);
    EXPECT_FALSE(Compare(OneEach(10, 15), Metric::kCount, Source::kWait, {}).changed);
  }
}

}  // namespace
}  // namespace clrscope::profile
