// SPDX-License-Identifier: Apache-2.0
#include "analysis/interval_fold.h"

#include <gtest/gtest.h>

#include <set>

#include "analysis/bind.h"
#include "analysis/testing/simulated_agent.h"
#include "base/units.h"
#include "profile/testing/interval_frames.h"
#include "profile/views/show_live.h"

namespace clrscope::analysis {
namespace {

using profile::AgentInterval;
using profile::IntervalFrame;

struct Keep final : profile::IntervalSink {
  void OnInterval(AgentInterval&& i) override { intervals.push_back(std::move(i)); }
  std::vector<AgentInterval> intervals;
};

class IntervalFoldTest : public ::testing::Test {
 protected:
  IntervalFoldTest() {
    recording.start_unix_ns = 1'000 * kSecond;
    recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  }
  // The agent began two seconds after the recording.
  static IntervalFrame Frame(uint64_t sequence) {
    IntervalFrame f;
    f.sequence = sequence;
    f.start_unix_ns = 1'002 * kSecond;
    f.start_ns = static_cast<int64_t>(sequence) * 10 * kSecond;
    f.end_ns = f.start_ns + 10 * kSecond;
    f.live = true;
    return f;
  }
  static IntervalFrame First() {
    IntervalFrame f = Frame(0);
    f.methods = {{"App", "", "App.Main", "App.Main()", 1, 0}};
    f.types = {{7, "int[]", "System.Int32[]"}};
    f.nodes = {{0, 0}};
    f.flows = {{1, 1, profile::HeapKind::kSoh, profile::EstimateSampled(3, 1'000)}};
    f.lives = {{1, 1, profile::HeapKind::kSoh, 1, false, 2, 0, 1, 1, 0, 0,
                profile::EstimateSampled(2, 1'000)},
               {1, 1, profile::HeapKind::kSoh, 0, true, 0, 0, 0, 0, 0, 0,
                profile::EstimateSampled(1, 1'000)}};
    return f;
  }
  profile::Profile Bound() {
    Aggregate aggregate(&recording);
    for (const AgentInterval& i : keep.intervals) aggregate.Add(i);
    return Bind(recording, aggregate);
  }

  profile::Recording recording;
  Keep keep;
};

TEST_F(IntervalFoldTest, FlowsAddUpAndTheLastStateStands) {
  IntervalFold fold(&recording, 0, &keep, true);
  ASSERT_TRUE(fold.OnFrame(First()).ok());
  IntervalFrame second = Frame(1);
  second.first_method = 1;
  second.first_type = 2;
  second.first_node = 2;
  second.flows = {{1, 1, profile::HeapKind::kSoh, profile::EstimateSampled(4, 1'000)}};
  second.lives = {{1, 1, profile::HeapKind::kSoh, 2, false, 4, 1, 2, 3, 1, 1,
                   profile::EstimateSampled(5, 1'000)}};
  ASSERT_TRUE(fold.OnFrame(std::move(second)).ok());
  EXPECT_EQ(keep.intervals[1].start_ns(), 12 * kSecond);

  profile::Profile p = Bound();
  EXPECT_EQ(p.source, profile::Source::kSampled);
  EXPECT_EQ(p.Total().samples, 7u);
  EXPECT_EQ(p.times.size(), 2u);
  ASSERT_EQ(p.lives.size(), 1u);
  EXPECT_EQ(p.lives[0].generation, 2);
  EXPECT_TRUE(p.processes[0].followed);
  EXPECT_EQ(p.processes[0].live_at_ns, 22 * kSecond);
  profile::ShowLive(p);
  EXPECT_EQ(p.Total().samples, 5u);
  EXPECT_EQ(p.str(p.types[p.cells[0].type].name), "int[]");
  EXPECT_EQ(p.str(p.frames[p.nodes[p.cells[0].node].frame].method), "App.Main");
}

// All that lives has one size; what the type allocated elsewhere has another.
TEST_F(IntervalFoldTest, WhatLivesOfATypeOfManySizesMayHideSmallOnes) {
  IntervalFold fold(&recording, 0, &keep, true);
  IntervalFrame frame = First();
  frame.types.push_back({8, "Order", "Order"});
  frame.flows.push_back({0, 1, profile::HeapKind::kSoh, profile::EstimateSampled(1, 40)});
  frame.lives.push_back({1, 2, profile::HeapKind::kSoh, 1, false, 2, 0, 1, 1, 0, 0,
                         profile::EstimateSampled(2, 1'000)});
  ASSERT_TRUE(fold.OnFrame(std::move(frame)).ok());
  profile::Profile p = Bound();
  profile::ShowLive(p);
  ASSERT_EQ(p.cells.size(), 2u);
  for (const profile::Cell& c : p.cells) {
    const bool array = p.str(p.types[c.type].name) == "int[]";
    EXPECT_EQ(c.value.many_sizes, array);
    EXPECT_EQ(profile::ObjectsInterval(c.value).high > 15'000, array);
  }
}

TEST_F(IntervalFoldTest, TheYoungAreNotShown) {
  IntervalFold fold(&recording, 0, &keep, true);
  ASSERT_TRUE(fold.OnFrame(First()).ok());
  profile::Profile p = Bound();
  EXPECT_EQ(p.lives.size(), 2u);
  profile::ShowLive(p, 2);
  EXPECT_EQ(p.Total().samples, 2u);
  profile::ShowLive(p, 5);
  EXPECT_TRUE(p.cells.empty());
}

TEST_F(IntervalFoldTest, AGapIsCountedAndItsNamesAreSaidToBeLost) {
  IntervalFold fold(&recording, 0, &keep, true);
  ASSERT_TRUE(fold.OnFrame(First()).ok());
  IntervalFrame late = Frame(4);
  late.first_method = 3;
  late.first_type = 4;
  late.first_node = 5;
  late.types = {{9, "Late", "Late"}};
  late.flows = {{3, 3, profile::HeapKind::kSoh, profile::EstimateSampled(1, 64)},
                {1, 4, profile::HeapKind::kSoh, profile::EstimateSampled(1, 64)}};
  ASSERT_TRUE(fold.OnFrame(std::move(late)).ok());
  EXPECT_EQ(recording.processes[0]->losses[Loss::kAgentFrames], 3u);
  const profile::Profile p = Bound();
  std::vector<std::string_view> types;
  for (const profile::Cell& c : p.cells) types.push_back(p.str(p.types[c.type].name));
  EXPECT_EQ(types, (std::vector<std::string_view>{"int[]", "Late", "(lost)"}));
}

TEST_F(IntervalFoldTest, ASecondAgentGoesOnWithIdsOfItsOwn) {
  IntervalFold fold(&recording, 0, &keep, true);
  ASSERT_TRUE(fold.OnFrame(First()).ok());
  IntervalFrame again = First();
  again.start_unix_ns += 60 * kSecond;
  again.types[0] = {8, "long[]", "System.Int64[]"};
  ASSERT_TRUE(fold.OnFrame(std::move(again)).ok());
  EXPECT_EQ(recording.processes[0]->losses[Loss::kAgentFrames], 0u);
  const profile::Profile p = Bound();
  ASSERT_EQ(p.cells.size(), 2u);
  const std::set<std::string_view> types = {p.str(p.types[p.cells[0].type].name),
                                            p.str(p.types[p.cells[1].type].name)};
  EXPECT_EQ(types, (std::set<std::string_view>{"int[]", "long[]"}));
  EXPECT_EQ(p.cells[0].node, p.cells[1].node) << "the same method is one frame";
}

TEST_F(IntervalFoldTest, IdsThatWereNeverToldAreRefusedWhole) {
  IntervalFold fold(&recording, 0, &keep, true);
  IntervalFrame f = First();
  f.flows[0].type = 2;
  EXPECT_FALSE(fold.OnFrame(std::move(f)).ok());
  f = First();
  f.nodes[0].method = 1;
  EXPECT_FALSE(fold.OnFrame(std::move(f)).ok());
  EXPECT_TRUE(keep.intervals.empty());
  EXPECT_TRUE(recording.processes[0]->agent.methods.empty());
}

TEST_F(IntervalFoldTest, GcsAndLossesGoIntoTheTables) {
  IntervalFold fold(&recording, 0, &keep, true);
  IntervalFrame f = First();
  f.gcs = {{5, 2, 0, 1, 1 * kSecond, 2 * kSecond, 1'000, {1, 2, 3, 4, 5}}};
  f.losses = {{"truncated_stacks", 2}, {"of_another_version", 3}};
  ASSERT_TRUE(fold.OnFrame(std::move(f)).ok());
  const profile::ProcessTables& t = *recording.processes[0];
  ASSERT_EQ(t.gcs.size(), 1u);
  EXPECT_EQ(t.gcs[0].start_ns, 3 * kSecond);
  EXPECT_EQ(t.gcs[0].Unpack().size_after[4], 5);
  EXPECT_EQ(t.info.gc.paused_ns, 1'000);
  EXPECT_EQ(t.losses[Loss::kTruncatedStack], 2u);
  EXPECT_EQ(t.losses[Loss::kAgentOther], 3u);
}

}  // namespace
}  // namespace clrscope::analysis
