// SPDX-License-Identifier: Apache-2.0
// The kinds of collections, each with its pauses and its histories.
#include "analysis/families/gc/gc_timeline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/families/gc/gc_figures.h"
#include "capture/testing/gc_script.h"

namespace clrscope::analysis {
namespace {

using namespace capture::testing;

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

}  // namespace
}  // namespace clrscope::analysis
