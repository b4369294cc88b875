// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/session_engine.h"

#include <gtest/gtest.h>

#include <map>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "base/units.h"
#include "capture/testing/fake_machine.h"

namespace clrscope::capture {
namespace {

using testing::FakeMachine;
using testing::FakeRuntime;

// What an observer was told, by process.
class Listener final : public SessionObserver {
 public:
  explicit Listener(SessionEngine* engine) : engine_(engine) {}
  void OnJoined(const Target& t) override { joined.push_back(t.process().pid); }
  void OnSlice(const profile::Slice& slice) override {
    const profile::ProcessTables& t = *engine_->recording().processes[slice.process];
    for (const profile::SliceRow& r : slice.rows) samples[t.info.pid] += r.sums.samples;
    slices.push_back(slice);
  }
  void OnEnded(const Target& t) override {
    ended.push_back(t.process().pid);
    nodes_at_end = t.tables().stacks.size();
  }
  void OnTick(int64_t now_ns) override { ticks.push_back(now_ns); }
  void OnNote(const Target&, const std::string& note) override { notes.push_back(note); }
  void OnSkipped(const ipc::DotnetProcess& p, const Error&) override { skipped.push_back(p.pid); }

  std::vector<pid_t> joined, ended, skipped;
  std::map<uint32_t, uint64_t> samples;  // by pid
  std::vector<profile::Slice> slices;
  std::vector<int64_t> ticks;
  std::vector<std::string> notes;
  uint32_t nodes_at_end = 0;

 private:
  SessionEngine* engine_;
};

class EngineTest : public ::testing::Test {
 protected:
  static EngineOptions Options() {
    EngineOptions options;
    options.discover = options.start_now = true;
    options.max_workers = 0;
    return options;
  }
  explicit EngineTest(EngineOptions options = Options())
      : engine(std::move(options), &machine.clock, machine.Processes()), listener(&engine) {
    engine.AddObserver(&listener);
  }
  void WorkUntilIdle() {
    while (engine.Work()) {
    }
  }
  void Pass(int64_t ns) {
    for (; ns > 0; ns -= kSecond / 4) {
      machine.clock.Advance(kSecond / 4);
      WorkUntilIdle();
    }
  }
  profile::Profile BindAll(const profile::Recording& recording, uint32_t pid) {
    analysis::Aggregate sums(&recording);
    for (const profile::Slice& s : listener.slices)
      if (s.process < recording.processes.size() && recording.processes[s.process]->info.pid == pid)
        sums.Add(s);
    return analysis::Bind(recording, sums);
  }

  FakeMachine machine;
  SessionEngine engine;
  Listener listener;
};

TEST_F(EngineTest, ProcessesAreJoinedAsTheyAppearAndTheirSlicesComeEachSecond) {
  auto a = machine.Start(11, "a");
  WorkUntilIdle();
  auto b = machine.Start(12, "b");
  WorkUntilIdle();
  EXPECT_EQ(listener.joined, (std::vector<pid_t>{11, 12}));
  for (int i = 0; i < 5; ++i) {
    a->Sample("A", 1, {0x100});
    b->Sample("B", 2, {0x200});
    b->Sample("B", 2, {0x300});
    a->Flush();
    b->Flush();
    Pass(kSecond);
  }
  Pass(2 * kSecond);  // nothing is said any more, and yet the last slice comes
  EXPECT_EQ(listener.samples[11], 5u);
  EXPECT_EQ(listener.samples[12], 10u);
  EXPECT_EQ(listener.ticks.size(), 7u);
  const EngineCounts counts = engine.counts();
  EXPECT_EQ(counts.recording, 2u);
  EXPECT_EQ(counts.samples, 15u);
}

TEST_F(EngineTest, AnEndedProcessKeepsItsNameAndGivesItsTablesBack) {
  auto a = machine.Start(11, "orders");
  WorkUntilIdle();
  for (uint64_t i = 0; i < 100; ++i) a->Sample("A", 1, {0x1000 + i});
  a->End();
  machine.Remove(*a);
  Pass(2 * kSecond);
  EXPECT_EQ(listener.ended, (std::vector<pid_t>{11}));
  EXPECT_EQ(listener.samples[11], 100u);
  EXPECT_GT(listener.nodes_at_end, 100u);
  const profile::ProcessTables& t = *engine.recording().processes[0];
  EXPECT_EQ(engine.recording().strings.Get(t.info.name), "orders");
  EXPECT_EQ(engine.recording().strings.Get(t.info.command_line), "dotnet orders.dll");
  EXPECT_EQ(t.source_samples[static_cast<size_t>(profile::Source::kSampled)], 100u);
  EXPECT_EQ(t.losses[Loss::kTargetLost], 0u);
  EXPECT_EQ(t.stacks.size(), profile::StackTree::kFirstReal);
  EXPECT_TRUE(t.series.keys().empty());
  EXPECT_EQ(engine.counts().ended, 1u);
  EXPECT_EQ(engine.counts().missed, 0u);
}

TEST_F(EngineTest, ASessionThatIsCutIsALoss) {
  auto a = machine.Start(11, "a");
  WorkUntilIdle();
  a->End(true);
  machine.Remove(*a);
  Pass(kSecond);
  EXPECT_EQ(engine.recording().processes[0]->losses[Loss::kTargetLost], 1u);
}

TEST_F(EngineTest, ThePidAndTheStartTimeMakeAProcess) {
  auto a = machine.Start(11, "first", 1000);
  WorkUntilIdle();
  a->End();
  machine.Remove(*a);
  Pass(kSecond);
  auto b = machine.Start(11, "second", 2000);
  Pass(kSecond);
  ASSERT_EQ(engine.recording().processes.size(), 2u);
  EXPECT_EQ(engine.recording().strings.Get(engine.recording().processes[1]->info.name), "second");
}

TEST_F(EngineTest, WhoCannotBeRecordedIsToldOnce) {
  auto a = machine.Start(11, "foreign");
  a->process.attachable = false;
  a->process.reason = "belongs to somebody else";
  a->process.reason_code = ErrorCode::kPermission;
  Pass(100 * kSecond);
  EXPECT_EQ(listener.skipped, (std::vector<pid_t>{11}));
  EXPECT_EQ(engine.counts().skipped, 1u);
  EXPECT_EQ(a->opened, 0);
}

TEST_F(EngineTest, WhoDoesNotAnswerIsToldOnceAndJoinedWhenItDoes) {
  auto a = machine.Start(11, "stopped");
  a->open_error = Error{ErrorCode::kTimeout, "does not answer"};
  Pass(40 * kSecond);
  EXPECT_EQ(listener.skipped, (std::vector<pid_t>{11}));
  EXPECT_TRUE(listener.joined.empty());
  a->open_error.reset();
  Pass(31 * kSecond);
  EXPECT_EQ(listener.joined, (std::vector<pid_t>{11}));
}

TEST_F(EngineTest, WhoEndsBeforeItIsJoinedIsCounted) {
  auto a = machine.Start(11, "quick");
  machine.Remove(*a);
  Pass(kSecond);
  EXPECT_TRUE(listener.joined.empty());
  EXPECT_TRUE(listener.skipped.empty());
  EXPECT_EQ(engine.counts().missed, 1u);
}

TEST_F(EngineTest, AProcessWhoseSessionSomebodyEndedIsJoinedAgain) {
  auto a = machine.Start(11, "a");
  WorkUntilIdle();
  a->Stop(1);
  a->Stop(2);
  Pass(5 * kSecond);
  EXPECT_EQ(listener.joined, (std::vector<pid_t>{11, 11}));
}

// Another tool's session would make the process go on paying for what nobody reads any more.
TEST_F(EngineTest, AfterItsLastSessionTheRuntimeLooksAgainAtWhatIsAskedOfIt) {
  auto a = machine.Start(11, "a");
  WorkUntilIdle();
  EXPECT_EQ(a->reminders, 0);
  EXPECT_TRUE(engine.StopAll(std::chrono::seconds(1), [] { return true; }));
  EXPECT_EQ(a->reminders, 1);
  EXPECT_TRUE(a->last_opened_is_reminder);
  EXPECT_EQ(a->open_sessions(), 0u);
}

TEST_F(EngineTest, ARotationSplitsTheSamplesAndKeepsTheNames) {
  auto a = machine.Start(11, "a");
  WorkUntilIdle();
  a->Method("App.Program", "Main", 0x10000, 0x100);
  a->Method("App.Program", "Gone", 0x20000, 0x100);
  a->Unload(0x20000, 0x100);
  for (int i = 0; i < 10; ++i) a->Sample("A", 1, {0x10010, 0x10020});
  a->Flush();
  Pass(3 * kSecond);
  const auto old = engine.Rotate();
  EXPECT_EQ(listener.samples[11], 10u);
  EXPECT_EQ(old->end_ns, 3 * kSecond);
  const profile::Profile before = BindAll(*old, 11);
  listener.slices.clear();

  // The stack is the one that was sent before: its id says nothing of the new recording's nodes.
  Pass(kSecond);
  for (int i = 0; i < 7; ++i) a->Sample("A", 1, {0x10010, 0x10020});
  a->Flush();
  Pass(3 * kSecond);
  EXPECT_EQ(listener.samples[11], 17u);
  const profile::ProcessTables& t = *engine.recording().processes[0];
  EXPECT_EQ(t.source_samples[static_cast<size_t>(profile::Source::kSampled)], 7u);
  ASSERT_EQ(t.code.size(), 1u) << "what was unloaded stays behind";
  const profile::Profile after = BindAll(engine.recording(), 11);
  for (const profile::Profile* p : {&before, &after}) {
    ASSERT_EQ(p->shown().cells.size(), 1u);
    EXPECT_EQ(p->str(p->frames[p->nodes[p->shown().cells[0].node].frame].method),
              "App.Program.Main");
    EXPECT_EQ(p->str(p->types[p->shown().cells[0].type].name), "A");
  }
  EXPECT_EQ(before.shown().cells[0].value.samples, 10u);
  EXPECT_EQ(after.shown().cells[0].value.samples, 7u);
  EXPECT_EQ(after.shown().times.front().start_ns, kSecond) << "time begins anew";
  EXPECT_EQ(engine.counts().samples, 17u);
  EXPECT_EQ(a->opened, 3) << "no session was touched";
}

TEST_F(EngineTest, ARotationCountsEachCollectionOnceAndKeepsTheGcsSettings) {
  auto a = machine.Start(11, "a");
  WorkUntilIdle();
  for (uint32_t i = 1; i <= 3; ++i) a->Gc(i, 0);
  a->Flush();
  Pass(kSecond);
  engine.recording().processes[0]->info.gc.hard_limit_bytes = 77;
  const auto old = engine.Rotate();
  EXPECT_EQ(old->processes[0]->info.gc.started, 3u);
  for (uint32_t i = 4; i <= 5; ++i) a->Gc(i, 0);
  a->Flush();
  Pass(kSecond);
  const profile::GcFacts& facts = engine.recording().processes[0]->info.gc;
  EXPECT_EQ(facts.started, 2u);
  EXPECT_EQ(facts.missing, 0u);
  EXPECT_EQ(facts.hard_limit_bytes, 77);
  EXPECT_EQ(engine.counts().gcs, 5u);
}

TEST_F(EngineTest, StoppingEndsEverySessionAndLeavesNothingOpen) {
  std::vector<std::shared_ptr<FakeRuntime>> all;
  for (pid_t pid = 1; pid <= 50; ++pid) {
    all.push_back(machine.Start(pid, "p"));
    WorkUntilIdle();
    all.back()->Sample("A", 1, {0x100});
  }
  EXPECT_TRUE(engine.StopAll(std::chrono::seconds(1), [] { return true; }));
  engine.Close();
  for (const auto& a : all) EXPECT_EQ(a->open_sessions(), 0u);
  EXPECT_EQ(engine.counts().samples, 50u);
  EXPECT_EQ(listener.samples.size(), 50u);
}

class CrowdedTest : public EngineTest {
 protected:
  static EngineOptions Few() {
    EngineOptions options = Options();
    options.max_processes = 4;
    return options;
  }
  CrowdedTest() : EngineTest(Few()) {}
};

TEST_F(CrowdedTest, WhoFindsNoRoomWaitsForTheNextRecording) {
  std::vector<std::shared_ptr<FakeRuntime>> all;
  for (pid_t pid = 1; pid <= 6; ++pid) {
    all.push_back(machine.Start(pid, "p"));
    WorkUntilIdle();
  }
  EXPECT_EQ(listener.joined.size(), 4u);
  EXPECT_EQ(listener.skipped, (std::vector<pid_t>{5, 6}));
  EXPECT_TRUE(engine.crowded());
  all[0]->End();
  all[1]->End();
  Pass(kSecond);
  (void)engine.Rotate();
  listener.joined.clear();
  WorkUntilIdle();
  EXPECT_EQ(listener.joined, (std::vector<pid_t>{5, 6}));
  EXPECT_EQ(engine.recording().processes.size(), 4u);
}

class TickTest : public EngineTest {
 protected:
  static EngineOptions ByTick() {
    EngineOptions options = Options();
    options.target.sampling = Sampling::kTick;
    return options;
  }
  TickTest() : EngineTest(ByTick()) {}
};

TEST_F(TickTest, TicksThatFellSilentAreToldAndAskedForAgain) {
  auto a = machine.Start(11, "a");
  WorkUntilIdle();
  uint32_t gc = 0;
  const auto second = [&](bool ticks) {
    for (int i = 0; i < 2; ++i) a->Gc(++gc, 0);
    if (ticks) a->Tick("A", {0x100});
    a->Flush();
    Pass(kSecond);
  };
  for (int i = 0; i < 10; ++i) second(true);
  EXPECT_EQ(a->reminders, 0);
  for (int i = 0; i < 10; ++i) second(false);
  EXPECT_GE(a->reminders, 3);
  EXPECT_LE(a->reminders, 5) << "less and less often";
  const int reminders = a->reminders;
  for (int i = 0; i < 10; ++i) second(true);
  EXPECT_LE(a->reminders, reminders + 1);
  EXPECT_EQ(engine.recording().processes[0]->losses[Loss::kTicksStalled], 1u);
  ASSERT_EQ(listener.notes.size(), 1u);
  EXPECT_NE(listener.notes[0].find("AllocationTick"), std::string::npos);
}

TEST_F(TickTest, GcsThatTheProgramAsksForSayNothingOfTicks) {
  auto a = machine.Start(11, "a");
  WorkUntilIdle();
  a->Tick("A", {0x100});
  for (uint32_t gc = 1; gc < 50; ++gc) {
    a->Gc(gc, 1);  // induced
    a->Flush();
    Pass(kSecond);
  }
  EXPECT_EQ(a->reminders, 0);
  EXPECT_TRUE(listener.notes.empty());
}

class EventSourcesTest : public EngineTest {
 protected:
  static EngineOptions WithRequests() {
    EngineOptions options = Options();
    options.target.requests = options.target.fold.requests = options.target.pool = true;
    return options;
  }
  EventSourcesTest() : EngineTest(WithRequests()) {}
  const profile::ProcessTables& tables() { return *engine.recording().processes[0]; }
  size_t Said(std::string_view what) const {
    return static_cast<size_t>(std::count_if(
        listener.notes.begin(), listener.notes.end(),
        [&](const std::string& note) { return note.find(what) != std::string::npos; }));
  }
};

TEST_F(EventSourcesTest, WhoHasThemSwitchedOffIsNotAskedAndHasNoRequests) {
  auto off = machine.Start(11, "off");
  off->process.event_sources_off = true;
  WorkUntilIdle();
  const int opened = off->opened;
  Pass(10 * kSecond);
  EXPECT_FALSE(tables().info.Recorded(profile::Measure::kRequests));
  EXPECT_TRUE(tables().info.Recorded(profile::Measure::kAllocations));
  EXPECT_EQ(tables().losses[Loss::kEventSourcesOff], 1u);
  EXPECT_EQ(tables().losses[Loss::kEventSourcesSilent], 0u);
  EXPECT_EQ(Said("has EventSource switched off"), 1u);
  (void)engine.Rotate();
  Pass(2 * kSecond);
  EXPECT_EQ(tables().losses[Loss::kEventSourcesOff], 1u) << "each recording says so";
  EXPECT_EQ(Said("has EventSource switched off"), 1u);

  auto on = machine.Start(12, "on");
  WorkUntilIdle();
  EXPECT_EQ(on->opened, opened + 4) << "requests, their tasks, their counts; the pool";
}

TEST_F(EventSourcesTest, SilenceIsToldAsWhatItMayBe) {
  auto silent = machine.Start(11, "silent");
  WorkUntilIdle();
  Pass(4 * kSecond);
  EXPECT_EQ(tables().losses[Loss::kEventSourcesSilent], 0u);
  EXPECT_EQ(Said("or has EventSource switched off"), 0u);
  Pass(10 * kSecond);
  EXPECT_TRUE(tables().info.Recorded(profile::Measure::kRequests));
  EXPECT_EQ(tables().losses[Loss::kEventSourcesSilent], 1u);
  EXPECT_EQ(tables().losses[Loss::kEventSourcesOff], 0u);
  EXPECT_EQ(Said("no counter of the runtime comes"), 1u);
}

TEST_F(EventSourcesTest, SilenceGoesOnInTheNextRecording) {
  auto silent = machine.Start(11, "silent");
  WorkUntilIdle();
  Pass(4 * kSecond);
  (void)engine.Rotate();
  EXPECT_EQ(Said("no counter of the runtime comes"), 0u);
  Pass(4 * kSecond);
  EXPECT_EQ(Said("no counter of the runtime comes"), 1u);
  EXPECT_EQ(tables().losses[Loss::kEventSourcesSilent], 1u);
}

TEST_F(EventSourcesTest, AProcessThatEndsSoonerMayHaveToldNothing) {
  auto brief = machine.Start(11, "brief");
  WorkUntilIdle();
  Pass(kSecond);
  brief->End();
  machine.Remove(*brief);
  Pass(kSecond);
  EXPECT_EQ(tables().losses[Loss::kEventSourcesSilent], 1u);
  EXPECT_EQ(Said("EventSource"), 0u);
}

}  // namespace
}  // namespace clrscope::capture
