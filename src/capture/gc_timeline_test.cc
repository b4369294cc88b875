// SPDX-License-Identifier: Apache-2.0
// The rare cases of a GC's life with known answers. It lies here because src/analysis may not use
// the payload builders of src/nettrace/testing.
#include "analysis/gc_timeline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/gc_figures.h"
#include "nettrace/testing/gc_payloads.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::analysis {
namespace {

using namespace nettrace::testing;
using clr::EventTag;
using profile::GcRecord;

constexpr uint32_t kBlocking = 0, kBackground = 1, kForeground = 2;
constexpr uint32_t kUser = 100, kBgc = 200, kServer0 = 300, kServer1 = 301;

// Events by hand, as a runtime sends them.
class Script {
 public:
  Script() : timeline(&strings, &gcs, &facts, &losses, 3) {}

  Script& Event(EventTag tag, uint32_t version, uint64_t thread, int64_t time,
                const std::string& payload, uint32_t node = 0) {
    clr::EventKind kind;
    kind.tag = tag;
    kind.version = version;
    clr::RawEvent e;
    e.kind = &kind;
    e.thread = thread;
    e.payload = AsBytes(payload.data(), payload.size());
    timeline.OnEvent(e, time, node);
    return *this;
  }
  Script& Suspend(uint64_t thread, int64_t begin, int64_t end, uint32_t reason = 1) {
    Event(EventTag::kGcSuspendEeBegin, 1, thread, begin, SuspendBeginPayload(1, reason));
    if (end >= 0) Event(EventTag::kGcSuspendEeEnd, 1, thread, end, "\0\0");
    return *this;
  }
  Script& Restart(uint64_t thread, int64_t time) {
    return Event(EventTag::kGcRestartEeEnd, 1, thread, time, "\0\0");
  }
  Script& Start(uint64_t thread, int64_t time, uint32_t number, uint32_t generation,
                uint32_t type = kBlocking, uint32_t reason = 0) {
    return Event(EventTag::kGcStart, 2, thread, time,
                 GcStartPayload(2, number, generation, reason, type));
  }
  Script& End(uint64_t thread, int64_t time, uint32_t number, int64_t gen0 = 0) {
    Event(EventTag::kGcEnd, 1, thread, time, GcEndPayload(1, number, 0));
    return Event(EventTag::kGcHeapStats, 2, thread, time, HeapStatsPayload(2, {gen0, 0, 0, 0, 0}));
  }
  // A whole blocking GC of `time`..`time`+10 on the user's thread.
  Script& Blocking(int64_t time, uint32_t number, uint32_t type = kBlocking) {
    return Suspend(kUser, time, time + 1)
        .Start(kUser, time + 2, number, 0, type)
        .End(kUser, time + 8, number, number)
        .Restart(kUser, time + 10);
  }
  Script& Global(uint64_t thread, uint32_t heaps, uint32_t mechanisms, uint32_t generation = 0) {
    GlobalHistoryFields f;
    f.heaps = heaps;
    f.generation = generation;
    f.mechanisms = mechanisms;
    f.phases = {0, 0, 0, 0, 0, 0, 0};
    return Event(EventTag::kGcGlobalHeapHistory, 4, thread, 0, GlobalHistoryPayload(4, f));
  }
  Script& PerHeap(uint64_t thread, uint32_t heap, const GenerationFields& each) {
    PerHeapHistoryFields f;
    f.heap = heap;
    f.generations.assign(5, each);
    return Event(EventTag::kGcPerHeapHistory, 3, thread, 0, PerHeapHistoryPayload(f));
  }
  GcRecord Gc(uint32_t number) {
    for (const profile::PackedGc& r : gcs)
      if (r.number == number) return r.Unpack();
    ADD_FAILURE() << "GC " << number << " is missing";
    return {};
  }

  StringPool strings;
  profile::GcRecords gcs;
  profile::GcFacts facts;
  LossCounters losses;
  GcTimeline timeline;
};

TEST(GcTimeline, BlockingGcHasOnePauseFromItsSuspensionToItsRestart) {
  Script s;
  s.Suspend(kUser, 100, 130).Start(kUser, 150, 1, 1).End(kUser, 400, 1, 77);
  EXPECT_TRUE(s.gcs.empty()) << "not over before its restart";
  s.Restart(kUser, 450);
  ASSERT_EQ(s.gcs.size(), 1u);
  const GcRecord r = s.gcs[0].Unpack();
  EXPECT_EQ(r.process, 3u);
  EXPECT_EQ(r.number, 1u);
  EXPECT_EQ(r.generation, 1);
  EXPECT_EQ(r.pause_start_ns, 100);
  EXPECT_EQ(r.suspend_ns, 30);
  EXPECT_EQ(r.start_ns, 150);
  EXPECT_EQ(r.end_ns, 400);
  EXPECT_EQ(r.pause_ns, 350);
  EXPECT_EQ(r.initial_pause_ns, -1);
  EXPECT_EQ(r.size_after[0], 77);
  EXPECT_EQ(r.promoted[4], 1);
  EXPECT_EQ(r.handles, 15);
  EXPECT_TRUE(r.has(profile::kGcComplete));
  EXPECT_FALSE(r.has(profile::kGcMaybeTouched));
}

TEST(GcTimeline, BackgroundGcHasTwoPausesAndForegroundGcsInside) {
  Script s;
  s.Suspend(kUser, 100, 110).Start(kUser, 120, 1, 2, kBackground).Restart(kUser, 140);
  s.Suspend(kUser, 200, 205).Start(kUser, 210, 2, 0, kForeground);
  s.Global(kUser, 1, 4).PerHeap(kUser, 0, {9, 0, 0, 9, 0, 0, 0, 0, 0, 0});
  s.End(kUser, 230, 2, 22).Restart(kUser, 240);
  s.Suspend(kBgc, 300, 307, 6).Restart(kBgc, 330);
  s.Suspend(kUser, 400, 401).Start(kUser, 402, 3, 1, kForeground).End(kUser, 410, 3, 33);
  s.Restart(kUser, 420);
  s.Global(kBgc, 1, 5, 2).PerHeap(kBgc, 0, {5, 0, 0, 5, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(s.gcs.size(), 2u);
  s.End(kBgc, 500, 1, 11);
  EXPECT_EQ(s.gcs.size(), 3u) << "its histories are there: it is over";
  s.timeline.Finish();
  ASSERT_EQ(s.gcs.size(), 3u);
  EXPECT_EQ(s.gcs[0].number, 1u) << "by their start";
  const GcRecord b = s.Gc(1);
  EXPECT_EQ(b.initial_pause_ns, 40);
  EXPECT_EQ(b.final_pause_ns, 30);
  EXPECT_EQ(b.pause_ns, 70);
  EXPECT_EQ(b.suspend_ns, 17);
  EXPECT_EQ(b.longest_suspend_ns, 10);
  EXPECT_EQ(b.end_ns, 500);
  EXPECT_EQ(b.size_after[0], 11);
  EXPECT_EQ(b.generation_data[0].size_before, 5);
  EXPECT_TRUE(b.has(profile::kGcComplete));
  EXPECT_EQ(s.Gc(2).pause_ns, 40);
  EXPECT_EQ(s.Gc(2).size_after[0], 22);
  EXPECT_EQ(s.Gc(2).generation_data[0].size_before, 9);
  EXPECT_EQ(s.Gc(3).pause_ns, 20);
  EXPECT_EQ(s.Gc(3).previous_restart_ns, 330);
}

TEST(GcTimeline, YoungGcThatBeginsABackgroundOneSharesItsSuspension) {
  Script s;
  s.Suspend(kUser, 100, 110).Start(kUser, 120, 1, 2, kBackground);
  s.Start(kUser, 150, 2, 1, kBlocking).End(kUser, 180, 2, 22).Restart(kUser, 200);
  s.Suspend(kBgc, 300, 310, 6).Restart(kBgc, 320).End(kBgc, 400, 1, 11);
  s.timeline.Finish();
  const GcRecord b = s.Gc(1);
  const GcRecord young = s.Gc(2);
  EXPECT_EQ(b.initial_pause_ns, 50) << "until the young one began";
  EXPECT_EQ(b.pause_ns, 70);
  EXPECT_EQ(young.pause_ns, 50) << "from there to the restart";
  EXPECT_EQ(young.suspend_ns, 0);
  EXPECT_TRUE(young.has(profile::kGcInsideSuspension));
  EXPECT_EQ(b.size_after[0], 11);
  EXPECT_EQ(young.size_after[0], 22);
}

TEST(GcTimeline, ProvisionalModeRunsAFullGcAfterTheYoungOneWithoutARestart) {
  Script s;
  s.Suspend(kUser, 100, 110).Start(kUser, 120, 1, 1).End(kUser, 150, 1, 11);
  s.Start(kUser, 160, 2, 2, kBlocking, 12).End(kUser, 300, 2, 22).Restart(kUser, 310);
  ASSERT_EQ(s.gcs.size(), 2u);
  EXPECT_EQ(s.Gc(1).pause_ns, 60);  // TraceEvent says 0
  EXPECT_EQ(s.Gc(2).pause_ns, 150);
  EXPECT_EQ(s.Gc(2).reason, 12);
  EXPECT_TRUE(s.Gc(1).has(profile::kGcComplete));
  EXPECT_TRUE(s.Gc(2).has(profile::kGcInsideSuspension));
}

TEST(GcTimeline, BackgroundGcThatFallsBackEndsBeforeTheRestart) {
  Script s;
  s.Suspend(kUser, 100, 110).Start(kUser, 120, 1, 2, kBackground);
  s.Global(kUser, 1, 4, 2).PerHeap(kUser, 0, {7, 0, 0, 7, 0, 0, 0, 0, 0, 0});
  s.End(kUser, 300, 1, 11).Restart(kUser, 320);
  ASSERT_EQ(s.gcs.size(), 1u);
  EXPECT_EQ(s.gcs[0].pause_ns, 220);  // TraceEvent says 10, the time to suspend
  EXPECT_TRUE(s.gcs[0].has(profile::kGcFellBack));
  EXPECT_EQ(s.gcs[0].Unpack().generation_data[0].size_before, 7);
  EXPECT_TRUE(s.gcs[0].has(profile::kGcComplete));
}

TEST(GcTimeline, SuspensionsOfOthersCountNowhere) {
  Script s;
  s.Suspend(900, 10, 20, 5).Restart(900, 60);  // a debugger
  // A sampling profiler waits for the lock while a GC runs.
  s.Suspend(kUser, 100, 110).Suspend(900, 120, -1, 0).Start(kUser, 130, 1, 0);
  s.End(kUser, 200, 1, 1).Restart(kUser, 210);
  s.Event(EventTag::kGcSuspendEeEnd, 1, 900, 215, "\0\0").Restart(900, 230);
  // And a GC waits while it samples.
  s.Suspend(900, 300, 305, 0).Suspend(kUser, 310, -1);
  s.Restart(900, 350).Event(EventTag::kGcSuspendEeEnd, 1, kUser, 360, "\0\0");
  s.Start(kUser, 370, 2, 0).End(kUser, 400, 2, 2).Restart(kUser, 410);
  ASSERT_EQ(s.gcs.size(), 2u);
  EXPECT_EQ(s.Gc(1).pause_ns, 110);
  EXPECT_EQ(s.Gc(1).suspend_ns, 10);
  EXPECT_EQ(s.Gc(2).pause_ns, 100);
  EXPECT_EQ(s.Gc(2).suspend_ns, 50);
  EXPECT_EQ(s.facts.other_suspensions, 3u);
  EXPECT_EQ(s.facts.other_suspended_ns, 50 + 110 + 50);
}

TEST(GcTimeline, SuspensionForAGcThatDoesNotComeIsNoPause) {
  Script s;
  s.Suspend(kUser, 100, 110).Restart(kUser, 150).Blocking(200, 1);
  ASSERT_EQ(s.gcs.size(), 1u);
  EXPECT_EQ(s.gcs[0].pause_ns, 10);
  EXPECT_EQ(s.facts.other_suspensions, 1u);
}

TEST(GcTimeline, ServerGcStartsOnAnyOfItsThreads) {
  Script s;
  s.Event(EventTag::kGcTriggered, 0, kUser, 90, GcTriggeredPayload(0), 42);
  s.Suspend(kServer0, 100, 110).Start(kServer1, 120, 1, 1);
  s.Event(EventTag::kGcMarkWithType, 0, kServer0, 130, MarkWithTypePayload(0, 0, 10));
  s.Event(EventTag::kGcMarkWithType, 0, kServer1, 140, MarkWithTypePayload(1, 0, 20));
  s.Event(EventTag::kGcMarkWithType, 0, kServer1, 145, MarkWithTypePayload(1, 3, 7));
  s.Event(EventTag::kGcMarkWithType, 0, kServer0, 170, MarkWithTypePayload(0, 3, 5));
  s.Global(kServer0, 2, 4, 1);
  s.PerHeap(kServer0, 0, {100, 10, 10, 50, 5, 5, 1, 4, 16, 3});
  s.PerHeap(kServer0, 1, {200, 0, 0, 90, 5, 5, 1, 30, 30, 3});
  s.End(kServer0, 200, 1, 11).Restart(kServer0, 210);
  ASSERT_EQ(s.gcs.size(), 1u);
  const GcRecord r = s.gcs[0].Unpack();
  EXPECT_EQ(r.pause_ns, 110);
  EXPECT_EQ(r.trigger_node, 42u);
  EXPECT_EQ(r.triggered_ns, 90);
  EXPECT_EQ(r.heap_count, 2);
  ASSERT_EQ(r.heaps.size(), 2u);
  EXPECT_EQ(r.generation_data[0].size_before, 300);
  EXPECT_EQ(r.generation_data[0].fragmentation(), 20);
  EXPECT_EQ(r.generation_data[0].survived(), 80);
  EXPECT_EQ(r.mark_ns[0], 20) << "the slower heap: 120 to 140";
  EXPECT_EQ(r.mark_ns[3], 40) << "heap 0: 130 to 170";
  EXPECT_EQ(r.mark_bytes[0], 30);
  EXPECT_EQ(r.mark_ns[1], -1);
  EXPECT_EQ(r.heaps[0].mark_ns, 50);
  EXPECT_EQ(r.heaps[1].mark_ns, 25);
  EXPECT_EQ(r.heaps[0].survival_percent[0], 25);
  EXPECT_EQ(r.heaps[0].survived, 40) << "gen0 and gen1";
  const GcFigures f = FiguresOf(s.gcs)[0];
  EXPECT_DOUBLE_EQ(f.survival_percent[0], 100.0 * 80 / 280) << "weighted by bytes";
  EXPECT_TRUE(std::isnan(f.survival_percent[2])) << "not collected";
  EXPECT_DOUBLE_EQ(f.survived_imbalance, 1.5);
}

TEST(GcTimeline, ServerBackgroundGcGetsTheHistoriesThatFollowItsEnd) {
  Script s;
  s.Suspend(kServer0, 100, 110).Start(kServer1, 120, 1, 2, kBackground).Restart(kServer0, 130);
  s.Suspend(kBgc, 200, 210, 6).Restart(kBgc, 220).End(kBgc, 300, 1, 11);
  EXPECT_TRUE(s.gcs.empty());
  s.Global(kBgc, 2, 5, 2).PerHeap(kBgc, 0, {5, 0, 0, 5, 0, 0, 0, 0, 0, 0});
  s.PerHeap(kBgc, 1, {6, 0, 0, 6, 0, 0, 0, 0, 0, 0});
  ASSERT_EQ(s.gcs.size(), 1u);
  EXPECT_EQ(s.gcs[0].Unpack().generation_data[0].size_before, 11);
  s.Blocking(400, 2);
  EXPECT_EQ(s.gcs.size(), 2u);
}

TEST(GcTimeline, GcWithoutHistoriesHasWhatItsOtherEventsSay) {
  Script s;
  s.Blocking(100, 1).Blocking(200, 2);
  ASSERT_EQ(s.gcs.size(), 2u);
  EXPECT_TRUE(s.gcs[1].has(profile::kGcComplete));
  EXPECT_FALSE(s.gcs[1].has_histories());
  const GcFigures f = FiguresOf(s.gcs)[1];
  EXPECT_EQ(f.before_bytes, -1);
  EXPECT_EQ(f.peak_bytes, -1);
  EXPECT_EQ(f.allocated_bytes, -1);
  EXPECT_EQ(f.size_before[4], -1);
  EXPECT_EQ(f.after_bytes, 2);
  EXPECT_EQ(f.ran_ns, 90);
  EXPECT_DOUBLE_EQ(f.pause_percent, 10.0);
}

TEST(GcTimeline, PinnedHeapIsUnknownBeforeHeapStatsV2) {
  Script s;
  s.Suspend(kUser, 100, 110).Start(kUser, 120, 1, 0);
  s.Event(EventTag::kGcEnd, 1, kUser, 130, GcEndPayload(1, 1, 0));
  s.Event(EventTag::kGcHeapStats, 1, kUser, 131, HeapStatsPayload(1, {1, 2, 3, 4, 5}));
  s.Restart(kUser, 140);
  ASSERT_EQ(s.gcs.size(), 1u);
  EXPECT_EQ(s.gcs[0].Unpack().size_after[3], 4);
  EXPECT_EQ(s.gcs[0].Unpack().size_after[4], -1);
  EXPECT_EQ(FiguresOf(s.gcs)[0].after_bytes, 10) << "without what is unknown";
}

TEST(GcTimeline, EndOfAGcThatRanAtTheAttachIsNobodyElses) {
  Script s;
  s.Event(EventTag::kGcSuspendEeEnd, 1, kUser, 5, "\0\0");
  s.Event(EventTag::kGcEnd, 1, kUser, 10, GcEndPayload(1, 41, 0));
  s.Event(EventTag::kGcHeapStats, 2, kUser, 11, HeapStatsPayload(2, {99, 0, 0, 0, 0}));
  s.Restart(kUser, 20).Blocking(100, 42);
  ASSERT_EQ(s.gcs.size(), 1u);
  EXPECT_EQ(s.gcs[0].Unpack().size_after[0], 42);
  EXPECT_EQ(s.facts.orphan_ends, 1u);
  EXPECT_EQ(s.facts.missing, 0u);
}

TEST(GcTimeline, OrphanEndInsideARunningGcLeavesThatAlone) {
  // Attached during a background GC; a foreground one runs when it ends.
  Script s;
  s.Suspend(kUser, 100, 110).Start(kUser, 120, 8, 0, kForeground);
  s.Event(EventTag::kGcEnd, 1, kBgc, 125, GcEndPayload(1, 7, 2));
  s.Event(EventTag::kGcHeapStats, 2, kBgc, 126, HeapStatsPayload(2, {99, 0, 0, 0, 0}));
  s.End(kUser, 130, 8, 8).Restart(kUser, 140);
  ASSERT_EQ(s.gcs.size(), 1u);
  EXPECT_EQ(s.gcs[0].Unpack().size_after[0], 8);
}

TEST(GcTimeline, StartWithoutItsSuspensionHasNoPause) {
  Script s;
  s.Start(kUser, 120, 5, 1).End(kUser, 130, 5, 55).Restart(kUser, 140).Blocking(200, 6);
  ASSERT_EQ(s.gcs.size(), 2u);
  const GcRecord r = s.Gc(5);
  EXPECT_TRUE(r.has(profile::kGcSuspensionMissing));
  EXPECT_FALSE(r.has(profile::kGcComplete));
  EXPECT_EQ(r.pause_ns, -1);
  EXPECT_EQ(r.size_after[0], 55);
}

TEST(GcTimeline, LostEndsAreMarkedAndTheNextGcIsNotTouched) {
  Script s;
  s.Suspend(kUser, 100, 110).Start(kUser, 120, 1, 0);  // end, stats and restart are lost
  s.Blocking(200, 2);
  s.Suspend(kUser, 300, 310).Start(kUser, 320, 3, 0);  // its GCEnd is lost
  s.Event(EventTag::kGcHeapStats, 2, kUser, 330, HeapStatsPayload(2, {33, 0, 0, 0, 0}));
  s.Restart(kUser, 340);
  s.Blocking(400, 4);
  ASSERT_EQ(s.gcs.size(), 4u);
  EXPECT_TRUE(s.Gc(1).has(profile::kGcMaybeTouched));
  EXPECT_FALSE(s.Gc(1).has(profile::kGcComplete));
  EXPECT_EQ(s.Gc(1).pause_ns, -1);
  EXPECT_TRUE(s.Gc(2).has(profile::kGcComplete));
  EXPECT_FALSE(s.Gc(2).has(profile::kGcMaybeTouched));
  EXPECT_EQ(s.Gc(2).size_after[0], 2);
  EXPECT_EQ(s.Gc(3).size_after[0], 33);
  EXPECT_TRUE(s.Gc(3).has(profile::kGcMaybeTouched));
  EXPECT_TRUE(s.Gc(4).has(profile::kGcComplete));
}

TEST(GcTimeline, NumbersThatAreMissingAreCountedAndMarkWhatFollows) {
  Script s;
  GenerationFields big{1000, 0, 0, 500, 0, 0, 0, 0, 0, 0};
  for (const uint32_t number : {1u, 2u, 5u}) {
    const int64_t t = number * 100;
    s.Suspend(kUser, t, t + 1).Start(kUser, t + 2, number, 0);
    s.Global(kUser, 1, 4).PerHeap(kUser, 0, big).End(kUser, t + 5, number).Restart(kUser, t + 6);
  }
  ASSERT_EQ(s.gcs.size(), 3u);
  EXPECT_EQ(s.facts.missing, 2u);
  const auto f = FiguresOf(s.gcs);
  EXPECT_EQ(f[0].allocated[0], 1000) << "everything before the first GC";
  EXPECT_EQ(f[1].allocated[0], 500);
  EXPECT_EQ(f[2].allocated[0], -1) << "what GC 4 left is not known";
}

TEST(GcTimeline, GapsMarkTheGcsThatTheyTouch) {
  for (const bool late : {false, true}) {
    Script s;
    if (!late) s.timeline.OnGap(205, 230);
    s.Blocking(100, 1).Blocking(200, 2).Blocking(300, 3);
    if (late) s.timeline.OnGap(205, 230);  // found at the next sequence point
    ASSERT_EQ(s.gcs.size(), 3u);
    EXPECT_FALSE(s.gcs[0].has(profile::kGcMaybeTouched));
    EXPECT_TRUE(s.gcs[1].has(profile::kGcMaybeTouched));
    EXPECT_FALSE(s.gcs[2].has(profile::kGcMaybeTouched));
  }
}

TEST(GcTimeline, AStartThatIsToldTwiceIsOneGc) {
  Script s;
  s.Suspend(kUser, 100, 110).Start(kUser, 120, 1, 0).Start(kUser, 121, 1, 0);
  s.End(kUser, 130, 1).Restart(kUser, 140);
  s.timeline.Finish();
  EXPECT_EQ(s.gcs.size(), 1u);
}

TEST(GcTimeline, WhatIsOpenAtTheEndIsHandedOutIncomplete) {
  Script s;
  s.Suspend(kUser, 100, 110).Start(kUser, 120, 1, 2, kBackground).Restart(kUser, 140);
  s.Suspend(kUser, 200, 210).Start(kUser, 220, 2, 0, kForeground);
  s.timeline.Finish();
  ASSERT_EQ(s.gcs.size(), 2u);
  EXPECT_EQ(s.gcs[0].pause_ns, 40);
  EXPECT_FALSE(s.gcs[0].has(profile::kGcComplete));
  EXPECT_EQ(s.gcs[1].pause_ns, -1);
}

TEST(GcTimeline, StartsWithoutEndsStayBounded) {
  Script s;
  for (uint32_t n = 1; n <= 100'000; ++n) {
    s.Suspend(n % 1000, n, -1);
    s.Start(kUser, n, n, 2, n % 3);
  }
  s.timeline.Finish();
  EXPECT_EQ(s.gcs.size(), 100'000u);
}

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
