// SPDX-License-Identifier: Apache-2.0
// Verdicts on programs whose objects live as they are told to.
//
// Tolerances: a program that does not leak is called growing by chance in at most one of a hundred
// recordings (profile::kFamilyError, all of a recording's rows together); of 40 seeds none is
// expected, and 2 have a chance below 6 %. So 2 are allowed.
#include "analysis/families/live/leaks.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "analysis/testing/simulated_agent.h"

namespace clrscope::analysis {
namespace {

using testing::kNeverDies;
using testing::SimulatedProgram;
using testing::Stream;

constexpr double kMB = 1e6;

#ifdef __SANITIZE_ADDRESS__
constexpr uint64_t kPart = 4;  // what the statistics are is the plain build's business
#else
constexpr uint64_t kPart = 1;
#endif

uint64_t Seeds(uint64_t usual) {
  const char* runs = std::getenv("CLRSCOPE_RUNS");
  const uint64_t part = std::getenv("CLRSCOPE_QUICK") == nullptr ? kPart : 4;  // make check
  return runs == nullptr ? (usual + part - 1) / part : static_cast<uint64_t>(std::atoi(runs));
}

auto Constant(double rate) {
  return [rate](double) { return rate; };
}
auto Never() {
  return [](double, double) { return kNeverDies; };
}
// Dies with a mean age, whatever its age is.
auto Exponential(double mean) {
  return [mean](double, double u) { return -mean * std::log1p(-u); };
}

Stream Garbage(double bytes_per_s) {
  return {"string", "Garbage", 200, Constant(bytes_per_s / 200), Exponential(0.02)};
}
Stream StaticList() { return {"Item", "StaticList", 64, Constant(2'000), Never()}; }
Stream EventHandlers() { return {"EventHandler", "Handlers", 88, Constant(1'000), Never()}; }
Stream Timers() { return {"Timer", "Timers", 400, Constant(150), Never()}; }
// All of it is thrown away each 100 s and filled again within 10 s.
Stream RefreshedCache() {
  return {"Entry", "RefreshedCache", 1'000,
          [](double t) { return std::fmod(t, 100) < 10 ? 4'000.0 : 0.0; },
          [](double t, double) { return 100 - std::fmod(t, 100) + 0.5; }};
}
// The oldest goes when a new one comes, after 90 s.
Stream LruCache() {
  return {"Page", "LruCache", 4'096, Constant(300), [](double, double) { return 90.0; }};
}
// Grows for 150 s, then replaces.
Stream StabilisingCache() {
  return {"Node", "StabilisingCache", 500, [](double t) { return t < 150 ? 2'000.0 : 100.0; },
          [](double t, double u) { return t < 150 ? 150 - t + 3'000 * u : 3'000.0; }};
}
// Loaded when the program starts.
Stream Static() {
  return {"Table", "Static", 3'000, [](double t) { return t < 5 ? 4'000.0 : 0.0; }, Never()};
}
Stream Sessions() { return {"Session", "Sessions", 2'000, Constant(500), Exponential(20)}; }

std::map<std::string, LeakRow> Find(const SimulatedProgram& program, uint64_t seed) {
  testing::Folded folded = testing::Fold(testing::SimulatedAgent(program, seed).Run());
  Aggregate aggregate(&folded.recording);
  for (const profile::AgentInterval& i : folded.intervals) aggregate.Add(i);
  std::vector<AgentPlaces> places;
  BindOptions options;
  options.agent_places = &places;
  const profile::Profile p = Bind(folded.recording, aggregate, options);
  LeakFinder finder(&p, &places);
  for (const profile::AgentInterval& i : folded.intervals) finder.Measure(i);
  for (const profile::AgentInterval& i : folded.intervals) finder.Add(i);
  std::map<std::string, LeakRow> rows;
  for (const LeakRow& r : finder.Finish().rows) rows.emplace(p.str(p.frames[r.frame].method), r);
  return rows;
}

SimulatedProgram Program(std::vector<Stream> streams, size_t cap = 20'000) {
  SimulatedProgram p;
  p.streams = std::move(streams);
  p.cap = cap;
  return p;
}

TEST(Leaks, LeaksAreFoundAndTheirSlopesLieWithinTheirIntervals) {
  int covered = 0, all = 0;
  const uint64_t seeds = Seeds(20);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto rows = Find(
        Program({Garbage(50 * kMB), StaticList(), EventHandlers(), Timers(), LruCache()}), seed);
    for (const auto& [site, slope] : std::map<std::string, double>{
             {"StaticList", 64 * 2'000.0}, {"Handlers", 88 * 1'000.0}, {"Timers", 400 * 150.0}}) {
      const LeakRow& r = rows.at(site);
      EXPECT_EQ(r.verdict, Verdict::kGrowing) << site << ", seed " << seed;
      ++all;
      covered += r.slope_interval->low <= slope && slope <= r.slope_interval->high ? 1 : 0;
      EXPECT_GT(r.median_age_s, *r.median_age_before_s) << site;
      EXPECT_GT(r.survived_gen2, 5u);
      EXPECT_GT(r.kept, 0.99);
    }
  }
  // 95 % each, three standard errors.
  EXPECT_GE(covered, all * (0.95 - 3 * std::sqrt(0.95 * 0.05 / all)));
}

TEST(Leaks, CachesAreNotLeaks) {
  int alarms = 0, refreshed = 0;
  const uint64_t seeds = Seeds(40);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto rows = Find(Program({Garbage(50 * kMB), RefreshedCache(), LruCache(),
                                    StabilisingCache(), Static(), Sessions()}),
                           seed);
    for (const auto& [site, row] : rows) alarms += row.verdict == Verdict::kGrowing ? 1 : 0;
    refreshed += rows.at("RefreshedCache").verdict == Verdict::kRefreshed ? 1 : 0;
    EXPECT_EQ(rows.at("LruCache").verdict, Verdict::kRefreshed);
    EXPECT_EQ(rows.at("Sessions").verdict, Verdict::kRefreshed);
    EXPECT_EQ(rows.at("Static").verdict, Verdict::kSteady);
    EXPECT_EQ(rows.at("StabilisingCache").verdict, Verdict::kSteady);
  }
  EXPECT_LE(alarms, 2) << "of " << seeds << " recordings";
  EXPECT_EQ(refreshed, static_cast<int>(seeds));
}

TEST(Leaks, OneObjectASecondIsFoundAmongAGigabyteOfGarbage) {
  // 10 KB each: 56 of 600 are sampled. Of small ones too few are, and that is said.
  int growing = 0;
  const uint64_t seeds = Seeds(3);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto rows = Find(Program({Garbage(1'000 * kMB),
                                    LruCache(),
                                    {"Buffer", "SlowLeak", 10'000, Constant(1), Never()},
                                    {"Small", "TinyLeak", 64, Constant(1), Never()}}),
                           seed);
    growing += rows.at("SlowLeak").verdict == Verdict::kGrowing ? 1 : 0;
    const auto tiny = rows.find("TinyLeak");
    if (tiny != rows.end()) {
      EXPECT_EQ(tiny->second.verdict, Verdict::kFewSamples);
    }
  }
  EXPECT_EQ(growing, static_cast<int>(seeds));
}

TEST(Leaks, ASmallCapFindsThemToo) {
  for (uint64_t seed = 1; seed <= Seeds(10); ++seed) {
    const auto rows =
        Find(Program({Garbage(50 * kMB), StaticList(), LruCache(), RefreshedCache()}, 512), seed);
    EXPECT_EQ(rows.at("StaticList").verdict, Verdict::kGrowing);
    EXPECT_NE(rows.at("LruCache").verdict, Verdict::kGrowing);
    EXPECT_NE(rows.at("RefreshedCache").verdict, Verdict::kGrowing);
  }
}

TEST(Leaks, TicksGiveVerdictsWithoutAnInterval) {
  SimulatedProgram p = Program({Garbage(50 * kMB), StaticList(), LruCache()});
  p.source = profile::Source::kTick;
  const auto rows = Find(p, 5);
  EXPECT_EQ(rows.at("StaticList").verdict, Verdict::kGrowing);
  EXPECT_FALSE(rows.at("StaticList").slope_interval.has_value());
  EXPECT_EQ(rows.at("LruCache").verdict, Verdict::kRefreshed);
}

TEST(Leaks, ARecordingThatIsTooShortHasNoRows) {
  SimulatedProgram p = Program({StaticList()});
  p.seconds = 4;
  p.frame_every = 1;
  EXPECT_TRUE(Find(p, 1).empty());
}

}  // namespace
}  // namespace clrscope::analysis
