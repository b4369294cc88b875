// SPDX-License-Identifier: Apache-2.0
// What else events say of a collection, and what is worked out from several.
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/families/gc/gc_figures.h"
#include "analysis/families/gc/gc_timeline.h"
#include "capture/testing/gc_script.h"

namespace clrscope::analysis {
namespace {

using namespace capture::testing;

TEST(GcTimeline, CommittedBytesAreThoseOfItsStartAndItsEnd) {
  Script s;
  s.Suspend(kUser, 100, 110).Start(kUser, 120, 1, 0);
  s.Event(EventTag::kGcDynamic, 0, kUser, 121, CommittedUsagePayload({10, 20, 30, 40, 50}));
  s.Event(EventTag::kGcDynamic, 0, kUser, 129, CommittedUsagePayload({1, 2, 3, 4, 5}));
  s.Event(EventTag::kGcDynamic, 0, kUser, 129, HeapCountTuningPayload("SizeAdaptationTuning", 4));
  s.Event(EventTag::kGcDynamic, 0, kUser, 129, GcDynamicPayload("Tomorrow", "?"));
  s.End(kUser, 130, 1).Restart(kUser, 140);
  ASSERT_EQ(s.gcs.size(), 1u);
  EXPECT_EQ(s.gcs[0].Unpack().committed_before.total(), 150);
  EXPECT_EQ(s.gcs[0].Unpack().committed_after.in_use, 1);
  EXPECT_EQ(s.gcs[0].Unpack().wanted_heap_count, 4);
  EXPECT_EQ(s.losses[Loss::kUnsupportedVersion], 0u);
}

TEST(GcTimeline, AnObjectThatSeveralHandlesPinCountsOnce) {
  Script s;
  s.Suspend(kUser, 100, 110).Start(kUser, 120, 1, 0);
  for (const uint64_t object : {0x10u, 0x20u, 0x10u})
    s.Event(EventTag::kGcPinObject, 0, kUser, 121, PinObjectPayload(object, 100, "System.Byte[]"));
  s.Event(EventTag::kGcPinObject, 0, kUser, 121, PinObjectPayload(0x30, 24, "App.Buffer"));
  s.End(kUser, 130, 1).Restart(kUser, 140).Blocking(200, 2);
  EXPECT_EQ(s.Gc(1).pinned_seen, 3);
  EXPECT_EQ(s.Gc(1).pinned_seen_bytes, 224);
  EXPECT_EQ(s.Gc(2).pinned_seen, -1) << "level 5 events: not sent is not zero";
  s.timeline.Finish();
  ASSERT_EQ(s.facts.pinned_types.size(), 2u);
  EXPECT_EQ(s.strings.Get(s.facts.pinned_types[0].name), "System.Byte[]");
  EXPECT_EQ(s.facts.pinned_types[0].count, 2u);
  EXPECT_EQ(s.facts.pinned_types[1].bytes, 24u);
}

TEST(GcTimeline, FinalizedTypesAreBoundedAndNoneIsForgotten) {
  Script s;
  for (uint64_t i = 0; i < 10'000; ++i)
    s.Event(EventTag::kGcFinalizeObject, 0, kUser, 1, FinalizeObjectPayload(i + 1, 0x10));
  s.timeline.Finish();
  EXPECT_LE(s.facts.finalized_types.size(), 4097u);
  uint64_t sum = 0;
  for (const auto& t : s.facts.finalized_types) sum += t.count;
  EXPECT_EQ(sum, 10'000u);
}

TEST(GcTimeline, PhaseLongerThanItsGcIsUnknown) {
  Script s;
  GlobalHistoryFields f;
  f.mechanisms = 2;
  f.phases = {0, 5, 1, 1, 1, 7, 3, 1'879'806'085};  // seen on .NET 8
  s.Suspend(kUser, 100, 110).Start(kUser, 120, 1, 0);
  s.Event(EventTag::kGcGlobalHeapHistory, 4, kUser, 0, GlobalHistoryPayload(4, f));
  s.End(kUser, 1'000'120, 1).Restart(kUser, 1'000'140);
  ASSERT_EQ(s.gcs.size(), 1u);
  const auto us = [&](profile::GcPhase p) {
    return s.gcs[0].Unpack().phase_us[static_cast<size_t>(p)];
  };
  EXPECT_EQ(us(profile::GcPhase::kMarkRoots), 5);
  EXPECT_EQ(us(profile::GcPhase::kPlan), 7);
  EXPECT_EQ(us(profile::GcPhase::kRelocate), 3);
  EXPECT_EQ(us(profile::GcPhase::kCompact), -1);
  EXPECT_EQ(us(profile::GcPhase::kSweep), -1) << "it compacted";
}

TEST(GcTimeline, TooShortPayloadsAreCountedAndLeaveNothingBehind) {
  Script s;
  for (const EventTag tag :
       {EventTag::kGcStart, EventTag::kGcEnd, EventTag::kGcHeapStats, EventTag::kGcSuspendEeBegin,
        EventTag::kGcGlobalHeapHistory, EventTag::kGcPerHeapHistory, EventTag::kGcMarkWithType,
        EventTag::kGcDynamic, EventTag::kGcPinObject, EventTag::kGcFinalizeObject,
        EventTag::kGcSettings, EventTag::kGcTriggered, EventTag::kGcFinalizersEnd})
    s.Event(tag, 3, kUser, 1, "x");
  EXPECT_EQ(s.losses[Loss::kUnsupportedVersion], 13u);
  s.timeline.Finish();
  EXPECT_TRUE(s.gcs.empty());
}

TEST(GcTimeline, SettingsAndFinalizersAreNoted) {
  Script s;
  s.Event(EventTag::kGcSettings, 0, kUser, 1, GcSettingsPayload(1000, 9));
  s.Event(EventTag::kGcFinalizersEnd, 1, kUser, 2, std::string("\5\0\0\0\0\0", 6));
  EXPECT_EQ(s.facts.hard_limit_bytes, 1000);
  EXPECT_EQ(s.facts.setting_bits, 9);
  EXPECT_EQ(s.facts.finalized_objects, 5u);
}

TEST(GcFigures, AllocationAcrossABackgroundSweepComesFromTicksOrNotAtAll) {
  for (const bool ticks : {false, true}) {
    Script s;
    const auto blocking = [&](int64_t t, uint32_t number, uint64_t before, uint64_t after) {
      if (ticks) s.timeline.OnTick(0, 70);
      if (ticks) s.timeline.OnTick(1, 7);
      if (ticks) s.timeline.OnTick(2, 3);
      s.Suspend(kUser, t, t + 1).Start(kUser, t + 2, number, 0);
      s.Global(kUser, 1, 4).PerHeap(kUser, 0, {before, 0, 0, after, 0, 0, 0, 0, 0, 0});
      s.End(kUser, t + 3, number).Restart(kUser, t + 4);
    };
    blocking(100, 1, 1000, 100);
    if (ticks) s.timeline.OnTick(0, 50);
    s.Suspend(kUser, 200, 201).Start(kUser, 202, 2, 2, kBackground).Restart(kUser, 203);
    s.Suspend(kBgc, 240, 241, 6).Restart(kBgc, 250);
    s.Global(kBgc, 1, 5, 2).PerHeap(kBgc, 0, {150, 0, 0, 80, 0, 0, 0, 0, 0, 0});
    s.End(kBgc, 290, 2);
    blocking(300, 3, 90, 10);  // less than there was: the sweep freed
    blocking(400, 4, 75, 10);
    s.timeline.Finish();
    const auto f = FiguresOf(s.gcs);
    ASSERT_EQ(f.size(), 4u);
    EXPECT_EQ(f[0].allocated, (std::array<int64_t, 3>{1000, 1000, 1000}));
    EXPECT_EQ(f[1].allocated[0], 50);
    EXPECT_EQ(f[1].allocated[1], ticks ? 0 : -1);
    EXPECT_EQ(f[2].allocated,
              ticks ? (std::array<int64_t, 3>{70, 7, 3}) : (std::array<int64_t, 3>{-1, -1, -1}));
    EXPECT_EQ(f[3].allocated, (std::array<int64_t, 3>{65, 65, 65}));
    EXPECT_EQ(f[1].peak_bytes, 750);
  }
}

TEST(GcFigures, PeakOfABackgroundGcIsThatOfTheGcsInside) {
  Script s;
  s.Suspend(kUser, 100, 110).Start(kUser, 120, 1, 2, kBackground).Restart(kUser, 140);
  s.Suspend(kUser, 200, 205).Start(kUser, 210, 2, 0, kForeground);
  s.Global(kUser, 1, 4).PerHeap(kUser, 0, {90, 0, 0, 9, 0, 0, 0, 0, 0, 0});
  s.End(kUser, 230, 2).Restart(kUser, 240);
  s.Global(kBgc, 1, 5, 2).PerHeap(kBgc, 0, {50, 0, 0, 5, 0, 0, 0, 0, 0, 0}).End(kBgc, 500, 1);
  s.Suspend(kUser, 600, 605).Start(kUser, 610, 3, 0);
  s.Global(kUser, 1, 4).PerHeap(kUser, 0, {900, 0, 0, 9, 0, 0, 0, 0, 0, 0});
  s.End(kUser, 630, 3).Restart(kUser, 640);
  s.timeline.Finish();
  const auto f = FiguresOf(s.gcs);
  EXPECT_EQ(f[0].before_bytes, 250);
  EXPECT_EQ(f[0].peak_bytes, 450);
  EXPECT_EQ(f[2].peak_bytes, 4500);
}

}  // namespace
}  // namespace clrscope::analysis
