// SPDX-License-Identifier: Apache-2.0
#include "capture/watch/live_view.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/testing/source_dir.h"
#include "base/units.h"
#include "capture/testing/fake_machine.h"

namespace clrscope::capture {
namespace {

using analysis::LiveBy;
using testing::FakeMachine;

class LiveViewTest : public ::testing::Test {
 protected:
  static EngineOptions Options() {
    EngineOptions options;
    options.discover = options.start_now = true;
    options.max_workers = 0;
    return options;
  }
  LiveViewTest() : engine(Options(), &machine.clock, machine.Processes()), view(&engine) {
    engine.AddObserver(&view);
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
  uint64_t Total() const { return view.tables().everything().total.samples; }

  FakeMachine machine;
  SessionEngine engine;
  LiveView view;
};

TEST_F(LiveViewTest, RatesAreOfTheLastSecondsAndTotalsSinceTheStart) {
  auto a = machine.Start(11, "a");
  WorkUntilIdle();
  for (int second = 0; second < 10; ++second) {
    a->Sample("A", 1, {0x100});
    a->Sample("B", 2, {0x200});
    a->Flush();
    Pass(kSecond);
  }
  Pass(2 * kSecond);
  EXPECT_EQ(Total(), 20u);
  ASSERT_EQ(view.tables().rows(LiveBy::kType).size(), 2u);
  EXPECT_LE(view.tables().Window(view.tables().everything(), 3).samples, 4u);
  EXPECT_EQ(view.processes()[0].samples, 20u);
  EXPECT_EQ(view.SinceStart(profile::Source::kSampled).Total().samples, 20u);
}

TEST_F(LiveViewTest, TotalsGoOnOverARotation) {
  auto a = machine.Start(11, "a");
  auto b = machine.Start(12, "b");
  WorkUntilIdle();
  for (int second = 0; second < 12; ++second) {
    a->Sample("A", 1, {0x100});
    b->Sample("B", 2, {0x200});
    a->Flush();
    b->Flush();
    Pass(kSecond);
    (void)view.RotateIfDue(5 * kSecond);
  }
  Pass(2 * kSecond);
  ASSERT_EQ(view.processes().size(), 2u);  // nobody joined twice
  EXPECT_EQ(Total(), 24u);
  EXPECT_EQ(view.tables().rows(LiveBy::kProcess)[0].total.samples, 12u);
  EXPECT_EQ(view.processes()[0].samples, 12u);
  EXPECT_GE(view.now_ns(), 12 * kSecond);
  // Stacks are those of the recording that goes on.
  EXPECT_LT(view.SinceStart(profile::Source::kSampled).Total().samples, 24u);
}

TEST_F(LiveViewTest, NestedTypesHaveTheirOwnersOverARotationToo) {
  auto a = machine.Start(::getpid(), "a");  // whose files are seen
  WorkUntilIdle();
  a->LoadModule(0x1234, SourceDir() + "/tests/golden/symbols/Sample.dll");
  for (int second = 0; second < 8; ++second) {
    a->Sample("Slot[System.Int32]", 1, {0x100});
    a->Flush();
    Pass(kSecond);
    (void)view.RotateIfDue(6 * kSecond);
  }
  Pass(2 * kSecond);
  for (const LiveBy by : {LiveBy::kType, LiveBy::kSite}) {
    const auto& rows = view.tables().rows(by);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(view.tables().str(rows[0].type), "Shop.Box<int>.Slot");
    EXPECT_EQ(rows[0].total.samples, 8u);
  }
}

TEST_F(LiveViewTest, ATypeWhoseOwnerIsFoundLaterStaysOneRow) {
  auto a = machine.Start(11, "a");
  WorkUntilIdle();
  a->Sample("Slot", 1, {0x100});
  a->Sample("Entry", 2, {0x100});
  a->Flush();
  Pass(3 * kSecond);
  const auto& rows = view.tables().rows(LiveBy::kType);
  ASSERT_EQ(rows.size(), 2u);
  view.OnRenamed(*engine.targets()[0], {"Slot", "Box.Slot", true});
  view.OnRenamed(*engine.targets()[0], {"Entry", "Map.Entry", false});
  EXPECT_EQ(view.tables().str(rows[0].type), "Box.Slot");
  EXPECT_EQ(view.tables().str(rows[1].type), "Entry") << "other types have that name, too";
}

TEST_F(LiveViewTest, AnEndedProcessKeepsItsFiguresAndAUsedAgainPidIsAnotherProcess) {
  auto a = machine.Start(11, "a");
  WorkUntilIdle();
  a->Sample("A", 1, {0x100});
  a->End();
  machine.Remove(*a);
  Pass(3 * kSecond);
  ASSERT_EQ(view.tables().processes().size(), 1u);
  EXPECT_TRUE(view.tables().processes()[0].ended);
  EXPECT_EQ(Total(), 1u);
  EXPECT_EQ(view.SinceStart(profile::Source::kSampled).Total().samples, 0u);  // its stacks went
  auto again = machine.Start(11, "c");
  WorkUntilIdle();
  again->Sample("C", 3, {0x300});
  again->Flush();
  Pass(3 * kSecond);
  ASSERT_EQ(view.tables().processes().size(), 2u);
  EXPECT_FALSE(view.tables().processes()[1].ended);
  EXPECT_EQ(view.tables().rows(LiveBy::kProcess).size(), 2u);
  EXPECT_EQ(Total(), 2u);
}

}  // namespace
}  // namespace clrscope::capture
