// SPDX-License-Identifier: Apache-2.0
// Collections of which something is missing, is told twice, or is damaged.
#include <gtest/gtest.h>

#include "analysis/families/gc/gc_figures.h"
#include "analysis/families/gc/gc_timeline.h"
#include "capture/testing/gc_script.h"

namespace clrscope::analysis {
namespace {

using namespace capture::testing;

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

// TryStartNoGCRegion counts a collection also where it needs none: a suspension without a GC.
TEST(GcTimeline, NumbersOfGcsThatOnlySuspendedAreNotMissing) {
  GenerationFields big{1000, 0, 0, 500, 0, 0, 0, 0, 0, 0};
  for (const bool lost : {false, true}) {
    Script s;
    for (const uint32_t number : {1u, 2u, 5u, 6u}) {
      const int64_t t = number * 100;
      if (number == 5)
        for (const int64_t at : {t - 200, t - 100})
          s.Suspend(kUser, at, at + 1).Restart(kUser, at + 9);
      s.Suspend(kUser, t, t + 1).Start(kUser, t + 2, number, 0);
      s.Global(kUser, 1, 4).PerHeap(kUser, 0, big).End(kUser, t + 5, number).Restart(kUser, t + 6);
    }
    // That something was lost is told later.
    if (lost) s.timeline.OnGap(330, 340);
    EXPECT_EQ(s.facts.missing, lost ? 2u : 0u);
    EXPECT_EQ(s.facts.counted_only, lost ? 0u : 2u);
    EXPECT_EQ(s.Gc(5).has(profile::kGcAfterMissing), lost);
    const auto f = FiguresOf(s.gcs);
    EXPECT_EQ(f[2].allocated[0], lost ? -1 : 500);
    EXPECT_EQ(f[3].allocated[0], 500);
    EXPECT_EQ(s.facts.pauses, 4u);
    EXPECT_EQ(s.facts.other_suspensions, 2u);
  }
}

TEST(GcTimeline, ABackgroundGcAfterCountedNumbersKnowsWhatWasAllocated) {
  for (const bool beside : {false, true}) {
    Script s;
    s.Blocking(100, 1);
    uint32_t number = 2;
    if (beside)
      s.Suspend(kUser, 120, 121).Start(kUser, 122, number++, 2, kBackground).Restart(kUser, 125);
    s.Suspend(kUser, 150, 151).Restart(kUser, 160);
    s.Suspend(kUser, 200, 201).Start(kUser, 202, number + 1, 2, beside ? kForeground : kBackground);
    s.timeline.Finish();
    EXPECT_EQ(s.facts.counted_only, 1u);
    EXPECT_EQ(s.Gc(number + 1).has(profile::kGcAfterCounted), !beside);
  }
}

TEST(GcTimeline, ASuspensionAccountsForOneNumber) {
  Script s;
  s.Blocking(100, 1).Suspend(kUser, 150, 151).Restart(kUser, 160).Blocking(200, 4);
  EXPECT_EQ(s.facts.missing, 2u);
  EXPECT_EQ(s.facts.counted_only, 0u);
  s.Suspend(900, 250, 251, 0).Restart(900, 260).Blocking(300, 6);
  EXPECT_EQ(s.facts.missing, 3u) << "a sampling profiler's suspension";
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

}  // namespace
}  // namespace clrscope::analysis
