// SPDX-License-Identifier: Apache-2.0
#include "profile/views/filter.h"

#include <gtest/gtest.h>

#include <map>

#include "profile/tables/thread_state.h"
#include "profile/testing/orders_profile.h"
#include "profile/views/show_live.h"

namespace clrscope::profile {
namespace {

using testing::OrdersProfile;

TEST(FilterTest, TypeKeepsMatchingCells) {
  Profile p = OrdersProfile();
  ASSERT_TRUE(Apply({.type = "^byte"}, p).ok());
  EXPECT_EQ(p.Total().samples, 3u);
  EXPECT_TRUE(p.shown().times.empty());
  EXPECT_TRUE(p.shown().threads.empty());
}

TEST(FilterTest, MethodMatchesAnywhereOnTheStack) {
  Profile p = OrdersProfile();
  ASSERT_TRUE(Apply({.method = "Program\\.Main$"}, p).ok());
  EXPECT_EQ(p.Total().samples, 14u);
}

TEST(FilterTest, BadPatternTellsItsPosition) {
  Profile p = OrdersProfile();
  const Status status = Apply({.type = "ab[c"}, p);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUsage);
  EXPECT_NE(status.error().message.find("at character 3"), std::string::npos)
      << status.error().message;
}

// Wall time of one method: 3 s that it ran, 2 s for a lock, 10 s idle.
Profile WallProfile() {
  testing::OrdersBuilder b;
  b.AddProcess(42, "orders");
  const uint32_t node = b.Stack({b.AddFrame("M", "M.F")});
  b.AddType("", 0);
  Figure& wall = b.p.At(Measure::kWall);
  wall.source = Source::kWallClock;
  for (const auto& [state, seconds] :
       {std::pair{ThreadState::kRunning, 3}, {ThreadState::kLock, 2}, {ThreadState::kIdle, 10}}) {
    Estimate e;
    e.samples = static_cast<uint64_t>(seconds);
    e.count = e.seen_count = seconds;
    e.amount = seconds * 1e9;
    wall.timed.push_back({static_cast<uint32_t>(wall.cells.size()), 0, 1'000'000'000, e});
    wall.cells.push_back(
        {node, 0, 0, HeapKind::kUnknown, e, static_cast<uint32_t>(b.p.labels.size())});
    b.p.labels.push_back(
        LabelSet().With(LabelKey::kThread, 7).With(LabelKey::kState, static_cast<uint64_t>(state)));
  }
  b.p.shown_index = 1;
  return std::move(b.p);
}

TEST(FilterTest, IdleThreadsAreHiddenUnlessTheyAreAskedFor) {
  Profile p = WallProfile();
  ASSERT_TRUE(Apply({}, p).ok());
  EXPECT_EQ(p.Total().amount, 5e9);
  EXPECT_EQ(p.shown().idle_hidden.amount, 10e9);
  ASSERT_EQ(p.shown().threads.size(), 1u);
  EXPECT_EQ(p.shown().threads[0].value.amount, 5e9);

  p = WallProfile();
  ASSERT_TRUE(Apply({.all_states = true}, p).ok());
  EXPECT_EQ(p.Total().amount, 15e9);
  EXPECT_TRUE(p.shown().idle_hidden.none());
}

TEST(FilterTest, StatesByName) {
  for (const auto& [states, amount] :
       {std::pair{"lock", 2e9}, {"idle", 10e9}, {"lock,running", 5e9}, {"gc", 0.0}}) {
    Profile p = WallProfile();
    ASSERT_TRUE(Apply({.method = "M.F", .state = states}, p).ok());
    EXPECT_EQ(p.Total().amount, amount) << states;
    EXPECT_TRUE(p.shown().idle_hidden.none()) << states;
  }
  Profile p = WallProfile();
  const Status status = Apply({.state = "lock,busy"}, p);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUsage);
  EXPECT_NE(status.error().message.find("--state busy: use running, runnable"), std::string::npos)
      << status.error().message;
}

TEST(FilterTest, ProcessByNameOrPid) {
  for (const char* wanted : {"web", "43"}) {
    testing::OrdersBuilder b;
    b.AddProcess(42, "orders");
    b.AddProcess(43, "web");
    const uint32_t node = b.Stack({b.AddFrame("M", "M.F")});
    b.Add(node, b.AddType("A", 1, 0), 3, 100, HeapKind::kSoh, 0);
    b.Add(node, b.AddType("B", 2, 1), 5, 100, HeapKind::kSoh, 1);
    ASSERT_TRUE(Apply({.process = wanted}, b.p).ok());
    ASSERT_EQ(b.p.processes.size(), 1u);
    EXPECT_EQ(b.p.processes[0].pid, 43u);
    ASSERT_EQ(b.p.shown().cells.size(), 1u);
    EXPECT_EQ(b.p.shown().cells[0].process, 0u);
    EXPECT_EQ(b.p.types[b.p.shown().cells[0].type].process, 0u);
    EXPECT_EQ(b.p.Total().samples, 5u);
  }
}

// Cells of two threads, and what came when.
Profile ThreadedProfile() {
  testing::OrdersBuilder b;
  b.AddProcess(42, "orders");
  const uint32_t node = b.Stack({b.AddFrame("M", "M.F")}),
                 other = b.Stack({b.AddFrame("M", "M.G")});
  const uint32_t a = b.AddType("A", 1), c = b.AddType("B", 2);
  for (const uint64_t thread : {7u, 8u})
    b.p.labels.push_back(LabelSet().With(LabelKey::kThread, thread));
  b.p.thread_names[{0, 7}] = b.p.strings.Intern("worker-1");
  Figure& f = b.p.shown();
  f.cells_by_thread = f.cells_by_time = true;
  const auto add = [&](uint32_t at, uint32_t type, uint32_t labels, uint64_t n, int64_t second) {
    f.cells.push_back({at, type, 0, HeapKind::kSoh, EstimateSampled(n, 100), labels});
    f.timed.push_back({static_cast<uint32_t>(f.cells.size() - 1), second * kSecond,
                       (second + 1) * kSecond, EstimateSampled(n, 100)});
  };
  add(node, a, 1, 1, 0);
  add(node, c, 1, 2, 1);
  add(other, a, 2, 4, 1);
  add(other, c, 0, 8, 2);  // of no known thread
  return std::move(b.p);
}

TEST(FilterTest, ThreadsAndTimesFollowWhereCellsKnowThem) {
  const auto threads = [](const Filter& filter) {
    Profile p = ThreadedProfile();
    EXPECT_TRUE(Apply(filter, p).ok());
    std::map<uint64_t, uint64_t> out;
    for (const ThreadRow& r : p.shown().threads) out[r.thread] += r.value.samples;
    uint64_t in_time = 0;
    for (const TimeRow& r : p.shown().times) in_time += r.value.samples;
    EXPECT_EQ(in_time, p.Total().samples);
    return out;
  };
  using Threads = std::map<uint64_t, uint64_t>;
  EXPECT_EQ(threads({.type = "A"}), (Threads{{7, 1}, {8, 4}}));
  EXPECT_EQ(threads({.method = "G"}), (Threads{{8, 4}}));
  EXPECT_EQ(threads({.thread = "worker"}), (Threads{{7, 3}}));
  EXPECT_EQ(threads({.thread = "8"}), (Threads{{8, 4}})) << "a whole number";
  EXPECT_EQ(threads({.type = "B", .thread = "^7$"}), (Threads{{7, 2}}));
}

TEST(FilterTest, AThreadThatIsNotKnownOfCellsNarrowsItsOwnRowsAlone) {
  Profile p = OrdersProfile();
  const uint64_t samples = p.Total().samples;
  ASSERT_TRUE(Apply({.thread = "8"}, p).ok());
  EXPECT_EQ(p.Total().samples, samples);
  ASSERT_EQ(p.shown().threads.size(), 1u);
  EXPECT_EQ(p.shown().threads[0].thread, 8u);
  EXPECT_TRUE(p.shown().times.empty());
}

TEST(FilterTest, LiveObjectsAndCpuTimesAreNarrowedLikeTheOthers) {
  Profile p = ThreadedProfile();
  LiveCell live;
  live.node = p.shown().cells[0].node;
  live.value = EstimateSampled(3, 100);
  p.At(Measure::kLive).lives = {live};
  p.At(Measure::kLive).live_ages.push_back({});
  GcCpuRow cpu;
  cpu.server_gc_ns = 5;
  p.At(Measure::kGcCpu).gc_cpu = {cpu, cpu};
  FinishAgentFigures(p);
  EXPECT_EQ(p.Find(Measure::kLive)->Total().samples, 3u);
  EXPECT_EQ(p.Find(Measure::kGcCpu)->Total().amount, 10);
  ASSERT_TRUE(Apply({.type = "B"}, p).ok());
  EXPECT_TRUE(p.lives().empty());
  EXPECT_TRUE(p.live_ages().empty());
  EXPECT_TRUE(p.Find(Measure::kLive)->cells.empty());
  EXPECT_EQ(p.gc_cpu().size(), 2u);
}

TEST(FilterTest, UnknownProcessNamesThoseThereAre) {
  Profile p = OrdersProfile();
  const Status status = Apply({.process = "shop"}, p);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kEmpty);
  EXPECT_NE(status.error().message.find("orders (42)"), std::string::npos);
}

}  // namespace
}  // namespace clrscope::profile
