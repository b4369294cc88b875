// SPDX-License-Identifier: Apache-2.0
// Collections against TraceEvent's TraceGC: equal, or the reason why TraceEvent is wrong beside
// both figures.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <map>

#include "analysis/bind.h"
#include "analysis/families/gc/gc_report.h"
#include "base/testing/source_dir.h"
#include "import/trace_file.h"
#include "profile/tables/slice.h"
#include "traces.h"

namespace clrscope {
namespace {

namespace fs = std::filesystem;
using namespace golden;
using nlohmann::json;
using profile::GcRecord;

constexpr const char* kGens[] = {"gen0", "gen1", "gen2", "loh", "poh"};
constexpr double kMicrosecond = 0.001;  // in ms
constexpr double kByte = 0.9e-6;        // in MB; TraceEvent's figures are rounded to 1 byte

struct GcTrace {
  profile::Profile profile;
  std::vector<analysis::ProcessGcs> reports;
  json oracle;
};

GcTrace& LoadGcs(const std::string& name) {
  static std::map<std::string, std::unique_ptr<GcTrace>> cache;
  std::unique_ptr<GcTrace>& t = cache[name];
  if (t) return *t;
  t = std::make_unique<GcTrace>();
  t->oracle = ReadOracle(name);
  const fs::path file =
      fs::temp_directory_path() / (name + "." + std::to_string(::getpid()) + ".gc.nettrace");
  std::ofstream(file, std::ios::binary)
      << Unzstd(ReadFile(fs::path(SourceDir()) / "tests/golden/traces" / (name + ".nettrace.zst")));
  profile::Recording recording;
  profile::NoSlices slices;
  auto read = import::ReadTrace(file.string(), &recording, &slices);
  fs::remove(file);
  if (read.ok()) t->profile = analysis::Bind(recording, analysis::Aggregate(&recording));
  t->reports = analysis::GcReportOf(t->profile);
  return *t;
}

struct Pair {
  GcRecord ours;
  analysis::GcFigures figures;
  const json& theirs;
};

class GcGolden : public ::testing::TestWithParam<Trace> {
 protected:
  GcTrace& trace() { return LoadGcs(GetParam().name); }
  // Every collection with TraceEvent's; the order is that of their start.
  std::vector<Pair> Pairs() {
    std::vector<Pair> out;
    std::vector<const json*> theirs;
    for (const json& process : trace().oracle["processes"])
      if (process.contains("gcs"))
        for (const json& gc : process["gcs"]) theirs.push_back(&gc);
    for (const analysis::ProcessGcs& r : trace().reports)
      for (size_t i = 0; i < r.gcs.size() && out.size() < theirs.size(); ++i)
        out.push_back({r.gcs[i].Unpack(), r.figures[i], *theirs[out.size()]});
    EXPECT_EQ(trace().profile.gcs.size(), theirs.size());
    EXPECT_FALSE(out.empty());
    return out;
  }
  // TraceEvent gives events that follow GCHeapStats to no collection, unless it knows that this is
  // server GC, which no nettrace tells it. A server background GC's histories come then.
  static bool LosesHistories(const Pair& p) {
    return p.ours.background() && p.theirs["perHeapHistories"] == 0 && p.ours.has_histories();
  }
};

class GcTickGolden : public GcGolden {};

TEST_P(GcGolden, CollectionsAreTheSame) {
  static constexpr const char* kTypes[] = {"NonConcurrentGC", "BackgroundGC", "ForegroundGC"};
  static const std::map<int, std::string> kReasons = {{0, "AllocSmall"}, {4, "AllocLarge"}};
  for (const Pair& p : Pairs()) {
    EXPECT_EQ(p.ours.number, p.theirs["n"]);
    EXPECT_EQ(p.ours.generation, p.theirs["gen"]);
    EXPECT_EQ(kTypes[p.ours.type], p.theirs["type"]);
    EXPECT_EQ(kReasons.at(p.ours.reason), p.theirs["reason"]);
    EXPECT_EQ(p.ours.has(profile::kGcComplete), p.theirs["complete"]);
    EXPECT_FALSE(p.ours.has(profile::kGcMaybeTouched));
  }
}

TEST_P(GcGolden, TimesAreEqual) {
  for (const Pair& p : Pairs()) {
    SCOPED_TRACE(fmt::format("GC {}", p.ours.number));
    const auto ms = [](int64_t ns) { return static_cast<double>(ns) / 1e6; };
    EXPECT_NEAR(ms(p.ours.start_ns), p.theirs["startMs"], kMicrosecond);
    EXPECT_NEAR(ms(p.ours.end_ns - p.ours.start_ns), p.theirs["durMs"], kMicrosecond);
    EXPECT_NEAR(ms(p.ours.pause_start_ns), p.theirs["pauseStartMs"], kMicrosecond);
    EXPECT_NEAR(ms(p.ours.suspend_ns), p.theirs["suspendMs"], kMicrosecond);
  }
}

TEST_P(GcGolden, PausesAreEqualOrAccountForWhatTraceEventLeavesOut) {
  const std::vector<Pair> pairs = Pairs();
  size_t equal = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Pair& p = pairs[i];
    SCOPED_TRACE(fmt::format("GC {}", p.ours.number));
    const double ours = static_cast<double>(p.ours.pause_ns) / 1e6, theirs = p.theirs["pauseMs"];
    if (p.ours.has(profile::kGcFellBack)) {
      // It began as a background GC, but ran as a blocking one and ended before the restart.
      // TraceEvent takes it off at GCHeapStats with the time to suspend for its pause.
      EXPECT_NEAR(theirs, p.theirs["suspendMs"], kMicrosecond);
      EXPECT_GT(ours, static_cast<double>(p.theirs["durMs"]) + theirs);
      EXPECT_NEAR(ours, static_cast<double>(p.ours.restart_ns - p.ours.pause_start_ns) / 1e6, 1e-9);
    } else if (p.ours.background() && i + 1 < pairs.size() &&
               pairs[i + 1].ours.has(profile::kGcInsideSuspension)) {
      // A young GC ran first in its suspension. TraceEvent gives the time between the end of
      // suspending and that GC's start to neither of them.
      const double until = static_cast<double>(pairs[i + 1].ours.start_ns - p.ours.start_ns) / 1e6;
      EXPECT_GT(ours, theirs);
      EXPECT_EQ(p.ours.initial_pause_ns, pairs[i + 1].ours.start_ns - p.ours.pause_start_ns);
      EXPECT_GT(ours - theirs, until);  // GCStart to GCStart is part of what is left out
    } else {
      EXPECT_NEAR(ours, theirs, kMicrosecond);
      ++equal;
    }
    if (p.ours.background() && !p.ours.has(profile::kGcFellBack)) {
      EXPECT_NEAR(static_cast<double>(std::max<int64_t>(p.ours.final_pause_ns, 0)) / 1e6,
                  p.theirs["bgcFinalPauseMs"], kMicrosecond);
    }
  }
  EXPECT_GE(equal * 10, pairs.size() * 7);
}

TEST_P(GcGolden, PausesAddUpToTheTimeThatTheProgramStood) {
  // No nanosecond is counted twice, none is left out: pauses do not overlap, and their sum is what
  // the suspensions took.
  ASSERT_FALSE(trace().reports.empty());
  for (const analysis::ProcessGcs& r : trace().reports) {
    int64_t sum = 0, last_end = INT64_MIN;
    std::vector<analysis::GcPause> pauses;
    for (const profile::PackedGc& gc : r.gcs)
      for (const analysis::GcPause& p : analysis::PausesOf(gc)) pauses.push_back(p);
    std::sort(pauses.begin(), pauses.end(),
              [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    for (const analysis::GcPause& p : pauses) {
      EXPECT_LE(last_end, p.start_ns);
      last_end = p.end_ns;
      sum += p.end_ns - p.start_ns;
    }
    EXPECT_GT(sum, 0);
    EXPECT_EQ(sum, r.stats.paused_ns);
  }
}

TEST_P(GcGolden, SizesAndPromotionsAreEqualWithThePinnedHeap) {
  for (const Pair& p : Pairs()) {
    SCOPED_TRACE(fmt::format("GC {}", p.ours.number));
    for (size_t g = 0; g < 5; ++g) {
      EXPECT_NEAR(static_cast<double>(p.ours.size_after[g]) / 1e6, p.theirs[kGens[g]]["afterMB"],
                  kByte);
      EXPECT_NEAR(static_cast<double>(p.ours.promoted[g]) / 1e6, p.theirs[kGens[g]]["promotedMB"],
                  kByte);
    }
    EXPECT_NEAR(static_cast<double>(p.figures.after_bytes) / 1e6, p.theirs["afterMB"], kByte);
    EXPECT_NEAR(static_cast<double>(p.figures.promoted_bytes) / 1e6, p.theirs["promotedMB"], kByte);
  }
}

TEST_P(GcGolden, HistoriesGiveEqualPeaksSurvivalAndFragmentation) {
  size_t compared = 0;
  for (const Pair& p : Pairs()) {
    SCOPED_TRACE(fmt::format("GC {}", p.ours.number));
    ASSERT_TRUE(p.ours.has_histories());
    EXPECT_EQ(p.ours.heaps.size(), static_cast<size_t>(p.ours.heap_count));
    if (LosesHistories(p)) {
      // It guesses the size before from the GC before and from ticks, and has no survival.
      for (const char* g : kGens) EXPECT_EQ(p.theirs[g]["survPct"], -1);
      EXPECT_NEAR(static_cast<double>(p.figures.before_bytes) / 1e6,
                  static_cast<double>(p.theirs["beforeMB"]),
                  static_cast<double>(p.theirs["beforeMB"]));
      continue;
    }
    ++compared;
    EXPECT_NEAR(static_cast<double>(p.figures.before_bytes) / 1e6, p.theirs["beforeMB"], kByte);
    EXPECT_NEAR(static_cast<double>(p.figures.peak_bytes) / 1e6, p.theirs["peakMB"], kByte);
    EXPECT_EQ(p.ours.heaps.size(), p.theirs["perHeapHistories"]);
    for (size_t g = 0; g < 5; ++g) {
      const json& t = p.theirs[kGens[g]];
      const profile::GcGeneration& d = p.ours.generation_data[g];
      EXPECT_NEAR(static_cast<double>(d.size_before) / 1e6, t["beforeMB"], kByte);
      EXPECT_NEAR(static_cast<double>(d.fragmentation()) / 1e6, t["fragMB"], kByte);
      EXPECT_NEAR(static_cast<double>(d.budget) / 1e6, t["budgetMB"], kByte);
      EXPECT_NEAR(static_cast<double>(d.in) / 1e6, t["inMB"], kByte);
      EXPECT_NEAR(static_cast<double>(d.survived()) / 1e6, t["outMB"], kByte);
      EXPECT_NEAR(static_cast<double>(d.objects_after()) / 1e6, t["objAfterMB"], kByte);
      // TraceEvent's survival is a mean of whole numbers over the heaps, whatever they hold.
      int64_t sum = 0;
      for (const profile::GcHeap& h : p.ours.heaps) sum += h.survival_percent[g];
      const auto mean = sum / static_cast<int64_t>(p.ours.heaps.size());
      EXPECT_EQ(p.ours.Collected(g) ? mean : -1, t["survPct"]);
      // Ours is weighted by bytes; with one heap they differ by the rounding only.
      if (p.ours.Collected(g) && p.ours.heaps.size() == 1 && d.objects_before() > 0) {
        EXPECT_EQ(static_cast<int64_t>(p.figures.survival_percent[g]), t["survPct"]);
      }
    }
  }
  EXPECT_GT(compared, 0u);
}

TEST_P(GcGolden, GlobalHistoriesAreEqual) {
  size_t compared = 0;
  for (const Pair& p : Pairs()) {
    if (!p.theirs.contains("ghh") || LosesHistories(p)) continue;
    ++compared;
    EXPECT_EQ(p.ours.heap_count, p.theirs["ghh"]["numHeaps"]);
    EXPECT_EQ(p.ours.condemned_generation, p.theirs["ghh"]["condemned"]);
    EXPECT_EQ(p.ours.memory_load_percent, p.theirs["ghh"]["memPressure"]);
    EXPECT_EQ(p.figures.compacted,
              p.theirs["ghh"]["mech"].get<std::string>().find("Compaction") != std::string::npos);
  }
  EXPECT_GT(compared, 0u);
}

TEST_P(GcTickGolden, AllocationsAgreeWithTheTicksWhereTraceEventsDoNot) {
  // TraceEvent takes sizes across a background sweep, which frees beside the program: negative
  // for LOH and POH. For a background GC's gen0 it takes ticks of another stretch of time.
  constexpr const char* kKinds[] = {"gen0", "loh", "poh"};
  std::array<int64_t, 3> ours{}, ticked{};
  for (const Pair& p : Pairs()) {
    for (size_t k = 0; k < 3; ++k) {
      SCOPED_TRACE(fmt::format("GC {} {}", p.ours.number, kKinds[k]));
      ASSERT_GE(p.figures.allocated[k], 0);
      // A tick comes for each 100 KB of a heap, so at either end one per heap is under way, and it
      // counts what is left unused of allocation contexts. What was allocated before the first GC
      // and before the recording is known to that GC alone.
      if (p.ours.number > 1) {
        EXPECT_NEAR(static_cast<double>(p.figures.allocated[k]),
                    static_cast<double>(p.ours.ticked_bytes[k]),
                    0.12 * static_cast<double>(p.ours.ticked_bytes[k]) + 250e3 * p.ours.heap_count);
      }
      ours[k] += p.figures.allocated[k];
      ticked[k] += p.ours.ticked_bytes[k];
    }
  }
  EXPECT_GT(ticked[0] + ticked[1] + ticked[2], 0);
  for (size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(static_cast<double>(ours[k]), static_cast<double>(ticked[k]),
                0.03 * static_cast<double>(ticked[k]) + 500e3)
        << kKinds[k];
}

INSTANTIATE_TEST_SUITE_P(Traces, GcGolden, ::testing::ValuesIn(kTraces), TestName);
INSTANTIATE_TEST_SUITE_P(
    Traces, GcTickGolden,
    ::testing::ValuesIn(TracesWhere([](const Trace& trace) { return trace.ticks; })), TestName);

}  // namespace
}  // namespace clrscope
