// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/live/interval_fold.h"

#include <gtest/gtest.h>

#include <map>
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
  profile::Profile Bound(const BindOptions& options = {}) {
    Aggregate aggregate(&recording);
    for (const AgentInterval& i : keep.intervals) aggregate.Add(i);
    return Bind(recording, aggregate, options);
  }

  profile::Recording recording;
  Keep keep;
};

TEST_F(IntervalFoldTest, PlacesAreAddressesOfTheProcess) {
  IntervalFold fold(&recording, 0, &keep, true);
  IntervalFrame f = First();
  f.places = {{0x1010, 5}, {0x1020, 6}};
  f.nodes = {{0, 0, 1}, {0, 0, 2}};
  f.flows.push_back({2, 1, profile::HeapKind::kSoh, profile::EstimateSampled(4, 1'000)});
  ASSERT_TRUE(fold.OnFrame(IntervalFrame(f)).ok());
  profile::ProcessTables& t = *recording.processes[0];
  ASSERT_EQ(t.stacks.addresses().size(), 2u);
  EXPECT_EQ(t.stacks.addresses()[1].address, 0x1020u);
  EXPECT_EQ(t.stacks.addresses()[1].first_ns, 2 * kSecond + 6);
  ASSERT_EQ(t.agent.nodes.size(), 3u);
  EXPECT_EQ(t.agent.nodes[2].place, 2u);
  // Told once more with another dictionary, under other numbers: they are the same.
  f.sequence = 1;
  f.dictionary = 1;
  std::swap(f.places[0], f.places[1]);
  std::swap(f.nodes[0], f.nodes[1]);
  f.nodes[0].place = 1;
  f.nodes[1].place = 2;
  ASSERT_TRUE(fold.OnFrame(IntervalFrame(f)).ok());
  EXPECT_EQ(t.stacks.addresses().size(), 2u);
  EXPECT_EQ(t.agent.nodes.size(), 3u);
  // Other code at the same address is another place.
  f.sequence = 2;
  f.dictionary = 2;
  f.places[0].seen_ns = 99;
  ASSERT_TRUE(fold.OnFrame(IntervalFrame(f)).ok());
  EXPECT_EQ(t.stacks.addresses().size(), 3u);
  f.sequence = 3;
  f.nodes[0].place = 3;
  EXPECT_FALSE(fold.OnFrame(std::move(f)).ok());
}

TEST_F(IntervalFoldTest, LinesAreToldWhereSomebodyLooksAtThem) {
  IntervalFold fold(&recording, 0, &keep, true);
  IntervalFrame f = First();
  f.places = {{0x1010, 5}, {0x1020, 6}};
  f.nodes = {{0, 0, 1}, {0, 0, 2}};
  f.flows.push_back({2, 1, profile::HeapKind::kSoh, profile::EstimateSampled(4, 1'000)});
  ASSERT_TRUE(fold.OnFrame(std::move(f)).ok());
  profile::Places& places = recording.processes[0]->places;
  profile::Place place;
  place.file = places.FileOf({recording.strings.Intern("/src/App.cs"), {}, {}, {}});
  place.line = 10;
  places.Set(0, place);
  place.line = 12;
  places.Set(1, place);
  EXPECT_EQ(Bound().shown().cells.size(), 1u) << "one method";
  BindOptions options;
  options.lines = true;
  const profile::Profile p = Bound(options);
  ASSERT_EQ(p.shown().cells.size(), 2u);
  EXPECT_EQ(p.lines[p.nodes[p.shown().cells[0].node].line].line, 10u);
  EXPECT_EQ(p.lines[p.nodes[p.shown().cells[1].node].line].line, 12u);
}

TEST_F(IntervalFoldTest, NativeCodeIsToldByItsFunctionOrItsFile) {
  IntervalFold fold(&recording, 0, &keep, true);
  IntervalFrame f = First();
  f.methods.push_back({"", "", "[native]", "[native]", 0, profile::kPseudo});
  f.places = {{0x7001'0010, 5}, {0x7001'0020, 6}, {0x7001'0030, 6}, {0x9000'0000, 6}};
  // Main > a function > two that have no name > one in no file > Main
  f.nodes = {{0, 0}, {1, 1, 1}, {2, 1, 2}, {3, 1, 3}, {4, 1, 4}, {5, 0}};
  f.flows[0].node = 6;
  ASSERT_TRUE(fold.OnFrame(std::move(f)).ok());
  profile::ProcessTables& t = *recording.processes[0];
  t.images.Restore({0x7001'0000, 0x7002'0000, 0, recording.strings.Intern("/lib/libback.so"),
                    recording.strings.Intern("00ff")});
  profile::Place place;
  place.symbol = recording.strings.Intern("call_back");
  t.places.Set(0, place);
  const profile::Profile p = Bound();
  ASSERT_EQ(p.shown().cells.size(), 1u);
  std::vector<std::string> told;
  for (uint32_t n = p.shown().cells[0].node; n != 0; n = p.nodes[n].parent) {
    const profile::Frame& frame = p.frames[p.nodes[n].frame];
    told.push_back(std::string(p.str(frame.module)) + "!" + std::string(p.str(frame.method)));
  }
  EXPECT_EQ(told, (std::vector<std::string>{"App!App.Main", "![native]", "libback.so!libback.so",
                                            "libback.so!call_back", "App!App.Main"}));
  EXPECT_EQ(p.losses[Loss::kUnresolvedFrame], 0u);
}

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
  EXPECT_EQ(p.shown().source, profile::Source::kSampled);
  EXPECT_EQ(p.Total().samples, 7u);
  EXPECT_EQ(p.shown().times.size(), 2u);
  ASSERT_EQ(p.lives().size(), 1u);
  EXPECT_EQ(p.lives()[0].generation, 2);
  EXPECT_TRUE(p.processes[0].followed);
  EXPECT_EQ(p.processes[0].live_at_ns, 22 * kSecond);
  profile::ShowLive(p);
  EXPECT_EQ(p.Total().samples, 5u);
  EXPECT_EQ(p.str(p.types[p.shown().cells[0].type].name), "int[]");
  EXPECT_EQ(p.str(p.frames[p.nodes[p.shown().cells[0].node].frame].method), "App.Main");
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
  ASSERT_EQ(p.shown().cells.size(), 2u);
  for (const profile::Cell& c : p.shown().cells) {
    const bool array = p.str(p.types[c.type].name) == "int[]";
    EXPECT_EQ(c.value.many_sizes, array);
    EXPECT_EQ(profile::CountInterval(c.value).high > 15'000, array);
  }
}

// What of a flow which thread did, where the agent tells it; some of the third flow it had no room
// for.
TEST_F(IntervalFoldTest, FlowsAreToldByThread) {
  IntervalFold fold(&recording, 0, &keep, true);
  IntervalFrame frame = First();
  using profile::EstimateSampled;
  using profile::HeapKind;
  frame.flows = {{1, 1, HeapKind::kSoh, EstimateSampled(6, 1'000)},
                 {0, 1, HeapKind::kSoh, EstimateSampled(3, 1'000)}};
  frame.parts = {{1, 1, HeapKind::kSoh, 77, EstimateSampled(4, 1'000)},
                 {1, 1, HeapKind::kSoh, 78, EstimateSampled(2, 1'000)},
                 {0, 1, HeapKind::kSoh, 77, EstimateSampled(1, 1'000)}};
  ASSERT_TRUE(fold.OnFrame(std::move(frame)).ok());
  const auto bound = [this](Aggregate::Detail detail) {
    Aggregate aggregate(&recording, {}, detail);
    for (const profile::AgentInterval& i : keep.intervals) aggregate.Add(i);
    return Bind(recording, aggregate);
  };
  for (const bool times : {false, true}) {
    const profile::Profile p = bound({.threads = true, .times = times});
    EXPECT_TRUE(p.shown().by_thread());
    EXPECT_EQ(p.Total().samples, 9u);
    std::map<uint64_t, uint64_t> cells, rows;
    for (const profile::Cell& c : p.shown().cells)
      cells[p.labels[c.labels][profile::LabelKey::kThread]] += c.value.samples;
    for (const profile::ThreadRow& r : p.shown().threads) rows[r.thread] += r.value.samples;
    EXPECT_EQ(cells, (std::map<uint64_t, uint64_t>{{0, 2}, {77, 5}, {78, 2}}));
    EXPECT_EQ(rows, (std::map<uint64_t, uint64_t>{{77, 5}, {78, 2}}));
    EXPECT_EQ(p.shown().timed.size(), times ? 4u : 0u);
  }
  EXPECT_EQ(bound({}).shown().cells.size(), 2u) << "nobody asked for threads";
  EXPECT_FALSE(bound({}).shown().by_thread());
}

TEST_F(IntervalFoldTest, WhatAllocatesNothingIsKnownByThread) {
  const auto told = [this](bool flows) {
    keep.intervals.clear();
    IntervalFold fold(&recording, 0, &keep, true);
    IntervalFrame frame = First();
    if (!flows) frame.flows.clear();
    EXPECT_TRUE(fold.OnFrame(std::move(frame)).ok());
    return Bound().processes.at(0).threads_told;
  };
  EXPECT_TRUE(told(/*flows=*/false));
  EXPECT_FALSE(told(/*flows=*/true)) << "parts of flows are missing";
}

TEST_F(IntervalFoldTest, TheYoungAreNotShown) {
  IntervalFold fold(&recording, 0, &keep, true);
  ASSERT_TRUE(fold.OnFrame(First()).ok());
  profile::Profile p = Bound();
  EXPECT_EQ(p.lives().size(), 2u);
  profile::ShowLive(p, 2);
  EXPECT_EQ(p.Total().samples, 2u);
  profile::ShowLive(p, 5);
  EXPECT_TRUE(p.shown().cells.empty());
}

// The agent has given back what nobody needs, and numbers the rest anew.
TEST_F(IntervalFoldTest, AnotherDictionaryMeansTheSameThings) {
  IntervalFold fold(&recording, 0, &keep, true);
  ASSERT_TRUE(fold.OnFrame(First()).ok());
  IntervalFrame second = Frame(1);
  second.first_method = 1;
  second.first_type = 2;
  second.first_node = 2;
  second.methods = {{"App", "", "App.Other", "App.Other()", 2, 0}};
  second.types = {{8, "Order", "Order"}};
  second.nodes = {{1, 1}};
  second.flows = {{2, 2, profile::HeapKind::kSoh, profile::EstimateSampled(4, 1'000)}};
  ASSERT_TRUE(fold.OnFrame(std::move(second)).ok());
  IntervalFrame third = Frame(2);
  third.dictionary = 1;
  third.methods = {{"App", "", "App.Other", "App.Other()", 2, 0},
                   {"App", "", "App.Main", "App.Main()", 1, 0}};
  third.types = {{8, "Order", "Order"}};
  third.nodes = {{0, 1}, {1, 0}};
  third.flows = {{2, 1, profile::HeapKind::kSoh, profile::EstimateSampled(5, 1'000)}};
  ASSERT_TRUE(fold.OnFrame(std::move(third)).ok());
  const profile::AgentTables& tables = recording.processes[0]->agent;
  EXPECT_EQ(tables.methods.size(), 2u);
  EXPECT_EQ(tables.types.size(), 3u);
  EXPECT_EQ(tables.nodes.size(), 3u) << "nothing is there twice";
  const profile::Profile p = Bound();
  double orders = 0;
  for (const profile::Cell& c : p.shown().cells)
    if (p.str(p.types[c.type].name) == "Order") orders += static_cast<double>(c.value.samples);
  EXPECT_EQ(orders, 9);
  EXPECT_EQ(recording.processes[0]->losses[Loss::kAgentFrames], 0u);
  IntervalFrame wrong = Frame(3);
  wrong.dictionary = 2;
  wrong.flows = {{1, 1, profile::HeapKind::kSoh, profile::EstimateSampled(1, 1'000)}};
  EXPECT_FALSE(fold.OnFrame(std::move(wrong)).ok()) << "its dictionary is empty";
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
  for (const profile::Cell& c : p.shown().cells) types.push_back(p.str(p.types[c.type].name));
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
  ASSERT_EQ(p.shown().cells.size(), 2u);
  const std::set<std::string_view> types = {p.str(p.types[p.shown().cells[0].type].name),
                                            p.str(p.types[p.shown().cells[1].type].name)};
  EXPECT_EQ(types, (std::set<std::string_view>{"int[]", "long[]"}));
  EXPECT_EQ(p.shown().cells[0].node, p.shown().cells[1].node) << "the same method is one frame";
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

IntervalFrame WithEvents(IntervalFrame f) {
  const auto bit = [](profile::Measure m) { return 1u << static_cast<uint32_t>(m); };
  f.measures = bit(profile::Measure::kExceptions) | bit(profile::Measure::kLocks);
  f.methods.push_back(
      {"App", "", "System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw", "Throw()", 2, 0});
  f.types.push_back({0, "App.Error", "App.Error"});
  f.nodes.push_back({1, 1});
  f.events = {{profile::Source::kException, 1, 2, 41, 0, false, {3, 1, 2}},
              {profile::Source::kException, 2, 2, 41, 0, false, {5, 0, 5}},
              {profile::Source::kContention, 1, 0, 41, 42, false, {2, 7'000, 2}},
              {profile::Source::kContention, 1, 0, 43, 42, true, {1, 1'000, 1}}};
  return f;
}

const profile::Figure* FigureOf(const profile::Profile& p, profile::Measure m) {
  for (const profile::Figure& f : p.figures)
    if (f.measure == m) return &f;
  return nullptr;
}

TEST_F(IntervalFoldTest, EventsBecomeTheFiguresThatSessionsMake) {
  IntervalFold fold(&recording, 0, &keep, true);
  ASSERT_TRUE(fold.OnFrame(WithEvents(First())).ok());
  IntervalFrame second = Frame(1);
  second.first_method = second.first_type = second.first_node = 3;
  second.first_method = 2;
  second.events = {{profile::Source::kException, 1, 2, 41, 0, false, {1, 0, 1}}};
  ASSERT_TRUE(fold.OnFrame(std::move(second)).ok());
  const profile::Profile p = Bound();
  const profile::Figure* thrown = FigureOf(p, profile::Measure::kExceptions);
  ASSERT_NE(thrown, nullptr);
  EXPECT_EQ(thrown->Total().count, 3);
  EXPECT_EQ(thrown->Total().amount, 6) << "what ExceptionDispatchInfo throws was thrown before";
  ASSERT_EQ(thrown->times.size(), 2u);
  EXPECT_EQ(thrown->times[0].start_ns, 2 * kSecond);
  EXPECT_EQ(p.str(p.types[thrown->cells[0].type].name), "App.Error");
  const profile::Figure* locks = FigureOf(p, profile::Measure::kLocks);
  ASSERT_NE(locks, nullptr);
  EXPECT_EQ(locks->Total().amount, 8'000);
  ASSERT_EQ(locks->cells.size(), 2u);
  EXPECT_EQ(p.labels[locks->cells[1].labels][profile::LabelKey::kUnfinished], 1u);
  EXPECT_EQ(p.labels[locks->cells[1].labels][profile::LabelKey::kOwner], 42u);
  EXPECT_EQ(locks->threads.size(), 2u);
  EXPECT_EQ(FigureOf(p, profile::Measure::kWaits), nullptr) << "nobody asked for them";
}

TEST_F(IntervalFoldTest, EventsThatASessionToldAreNotCountedTwice) {
  IntervalFold fold(&recording, 0, &keep, true);
  ASSERT_TRUE(fold.OnFrame(WithEvents(First())).ok());
  profile::ProcessTables& t = *recording.processes[0];
  bool capped = false;
  const profile::SeriesKey key = profile::SeriesKey::Make(
      profile::StackTree::kNoStack, 0, profile::HeapKind::kUnknown, profile::Source::kException, 0);
  (void)t.series.Find(key, 0, profile::StackTree::kOther, &capped);
  const profile::Profile p = Bound();
  EXPECT_EQ(FigureOf(p, profile::Measure::kExceptions)->Total().count, 0);
  EXPECT_EQ(FigureOf(p, profile::Measure::kLocks)->Total().count, 3);
}

TEST_F(IntervalFoldTest, EventsOfMergedIntervalsAddUp) {
  IntervalFold fold(&recording, 0, &keep, true);
  ASSERT_TRUE(fold.OnFrame(WithEvents(First())).ok());
  IntervalFrame second = Frame(1);
  second.first_method = 2;
  second.first_type = second.first_node = 3;
  second.events = {{profile::Source::kContention, 1, 0, 41, 42, false, {1, 500, 1}},
                   {profile::Source::kContention, 1, 0, 41, 99, false, {1, 500, 1}}};
  ASSERT_TRUE(fold.OnFrame(std::move(second)).ok());
  profile::MergeInterval(keep.intervals[0], std::move(keep.intervals[1]));
  keep.intervals.pop_back();
  EXPECT_EQ(keep.intervals[0].frame.events.size(), 5u);
  EXPECT_EQ(FigureOf(Bound(), profile::Measure::kLocks)->Total().amount, 9'000);
}

}  // namespace
}  // namespace clrscope::analysis
