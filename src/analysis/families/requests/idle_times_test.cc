// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/idle_times.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace clrscope::analysis {
namespace {

using IdleKind = IdleTimes::Kind;

// Request `n`, or an activity within it.
ActivityPath IdlePath(unsigned n, unsigned child = 0) {
  clr::ActivityId id{};
  id[0] = std::byte{0x10};
  id[0] |= static_cast<std::byte>(n);
  id[1] = static_cast<std::byte>(child << 4);
  return ActivityPath::Of(id);
}

struct IdleTold {
  IdleKind kind;
  int64_t time_ns;
  uint64_t thread = 0, id = 0;
  unsigned request = 0;
};

IdleTimes IdleAfter(std::initializer_list<IdleTold> events) {
  IdleTimes idle;
  for (const IdleTold& e : events)
    EXPECT_TRUE(idle.Add({e.time_ns, e.thread, e.id,
                          e.request == 0 ? ActivityPath() : IdlePath(e.request), e.kind}));
  idle.Run(1'000'000);
  return idle;
}

// "await 10-20, queue 20-25"
std::string IdleSpans(const IdleTimes& idle, unsigned request) {
  const IdleTimes::Times* times = idle.Find(IdlePath(request));
  if (times == nullptr) return "nothing is known";
  std::string out;
  if (times->before_ns != 0) out = "before " + std::to_string(times->before_ns);
  for (const IdleTimes::Span& s : times->spans)
    out += (out.empty() ? "" : ", ") + std::string(s.queued ? "queue " : "await ") +
           std::to_string(s.from_ns) + "-" + std::to_string(s.to_ns);
  return out;
}

TEST(IdleTimes, ARequestThatNeverSuspendsIsNeverIdle) {
  EXPECT_EQ(
      IdleSpans(IdleAfter({{IdleKind::kStart, 10, 1, 0, 1}, {IdleKind::kStop, 90, 1, 0, 1}}), 1),
      "");
}

TEST(IdleTimes, WhatIsDequeuedBeforeTheStartIsItsQueue) {
  EXPECT_EQ(IdleSpans(IdleAfter({{IdleKind::kEnqueued, 5, 9, 77},
                                 {IdleKind::kDequeued, 20, 1, 77},
                                 {IdleKind::kStart, 21, 1, 0, 1},
                                 {IdleKind::kStop, 30, 1, 0, 1}}),
                      1),
            "before 15");
}

TEST(IdleTimes, AnAwaitThatSuspendsIsIdleUntilItGoesOn) {
  // The handler awaits task 4, what called it the handler's own task 5.
  EXPECT_EQ(IdleSpans(IdleAfter({{IdleKind::kStart, 10, 1, 0, 1},
                                 {IdleKind::kWaitBegin, 20, 1, 4, 1},
                                 {IdleKind::kWaitBegin, 22, 1, 5, 1},
                                 {IdleKind::kEnqueued, 60, 9, 88},
                                 {IdleKind::kDequeued, 68, 2, 88},
                                 {IdleKind::kWaitEnd, 70, 2, 4},
                                 {IdleKind::kWaitEnd, 80, 2, 5},
                                 {IdleKind::kStop, 90, 2, 0, 1}}),
                      1),
            "await 22-60, queue 60-70");
}

TEST(IdleTimes, AwaitsFollowOnEachOther) {
  EXPECT_EQ(IdleSpans(IdleAfter({{IdleKind::kStart, 10, 1, 0, 1},
                                 {IdleKind::kWaitBegin, 20, 1, 4, 1},
                                 {IdleKind::kWaitBegin, 21, 1, 5, 1},
                                 {IdleKind::kWaitEnd, 30, 2, 4},
                                 {IdleKind::kWaitBegin, 40, 2, 6, 1},
                                 {IdleKind::kContinued, 41, 2, 4},
                                 {IdleKind::kWaitEnd, 50, 3, 6},
                                 {IdleKind::kWaitEnd, 55, 3, 5},
                                 {IdleKind::kStop, 60, 3, 0, 1}}),
                      1),
            "await 21-30, await 41-50");
}

TEST(IdleTimes, AThreadThatGoesOnAfterAnAwaitWasNeverGone) {
  // A task is started, and awaited only after some work of its own.
  EXPECT_EQ(IdleSpans(IdleAfter({{IdleKind::kStart, 10, 1, 0, 1},
                                 {IdleKind::kWaitBegin, 20, 1, 4, 1},
                                 {IdleKind::kWaitBegin, 50, 1, 5, 1},
                                 {IdleKind::kWaitEnd, 60, 2, 4},
                                 {IdleKind::kWaitEnd, 61, 2, 5},
                                 {IdleKind::kStop, 90, 2, 0, 1}}),
                      1),
            "await 50-60");
  EXPECT_EQ(IdleSpans(IdleAfter({{IdleKind::kStart, 10, 1, 0, 1},
                                 {IdleKind::kWaitBegin, 20, 1, 4, 1},
                                 {IdleKind::kWaitEnd, 30, 2, 4},
                                 {IdleKind::kContinued, 35, 2, 4},
                                 {IdleKind::kWaitBegin, 50, 1, 5, 1},
                                 {IdleKind::kWaitEnd, 60, 2, 5},
                                 {IdleKind::kStop, 90, 2, 0, 1}}),
                      1),
            "await 50-60")
      << "another thread ran beside it";
}

TEST(IdleTimes, WhatIsScheduledWaitsForAThread) {
  // Task.Run, which the request awaits.
  EXPECT_EQ(IdleSpans(IdleAfter({{IdleKind::kStart, 10, 1, 0, 1},
                                 {IdleKind::kScheduled, 20, 1, 7, 1},
                                 {IdleKind::kEnqueued, 21, 1, 99},
                                 {IdleKind::kWaitBegin, 25, 1, 7, 1},
                                 {IdleKind::kDequeued, 39, 2, 99},
                                 {IdleKind::kStarted, 40, 2, 7},
                                 {IdleKind::kCompleted, 70, 2, 7},
                                 {IdleKind::kWaitEnd, 70, 2, 7},
                                 {IdleKind::kStop, 90, 2, 0, 1}}),
                      1),
            "queue 25-40");
}

TEST(IdleTimes, WhatRunsBesideIsNotIdle) {
  // A task of its own runs until 60, and the request itself awaits another one from 30 on.
  EXPECT_EQ(IdleSpans(IdleAfter({{IdleKind::kStart, 10, 1, 0, 1},
                                 {IdleKind::kScheduled, 20, 1, 7, 1},
                                 {IdleKind::kStarted, 22, 2, 7},
                                 {IdleKind::kWaitBegin, 30, 1, 8, 1},
                                 {IdleKind::kCompleted, 60, 2, 7},
                                 {IdleKind::kWaitEnd, 80, 1, 8},
                                 {IdleKind::kStop, 90, 1, 0, 1}}),
                      1),
            "await 60-80");
}

TEST(IdleTimes, WhoDoesSomethingElseRunsForItNoLonger) {
  // An await that tells nothing (IValueTaskSource): the thread takes other work.
  EXPECT_EQ(IdleSpans(IdleAfter({{IdleKind::kStart, 10, 1, 0, 1},
                                 {IdleKind::kDequeued, 20, 1, 5},
                                 {IdleKind::kStart, 21, 1, 0, 2},
                                 {IdleKind::kStop, 40, 1, 0, 2},
                                 {IdleKind::kStop, 90, 2, 0, 1}}),
                      1),
            "await 20-90");
}

TEST(IdleTimes, WhoAwaitsTheSameTaskGoesOnInTheOrderOfTheAwaits) {
  const IdleTimes idle = IdleAfter({{IdleKind::kStart, 10, 1, 0, 1},
                                    {IdleKind::kWaitBegin, 20, 1, 4, 1},
                                    {IdleKind::kStart, 30, 2, 0, 2},
                                    {IdleKind::kWaitBegin, 40, 2, 4, 2},
                                    {IdleKind::kWaitEnd, 70, 1, 4},
                                    {IdleKind::kWaitEnd, 71, 2, 4},
                                    {IdleKind::kStop, 80, 1, 0, 1},
                                    {IdleKind::kStop, 81, 2, 0, 2}});
  EXPECT_EQ(IdleSpans(idle, 1), "await 20-70");
  EXPECT_EQ(IdleSpans(idle, 2), "await 40-71");
}

TEST(IdleTimes, ChildrenBelongToTheirRequest) {
  IdleTimes idle;
  EXPECT_TRUE(idle.Add({10, 1, 0, IdlePath(1), IdleKind::kStart}));
  EXPECT_TRUE(idle.Add({20, 1, 4, IdlePath(1, 3), IdleKind::kWaitBegin}));
  EXPECT_TRUE(idle.Add({60, 1, 4, {}, IdleKind::kWaitEnd}));
  EXPECT_TRUE(idle.Add({90, 1, 0, IdlePath(1), IdleKind::kStop}));
  idle.Run(100);
  EXPECT_EQ(IdleSpans(idle, 1), "await 20-60");
}

TEST(IdleTimes, SessionsAreReadOneAfterTheOther) {
  EXPECT_EQ(IdleSpans(IdleAfter({{IdleKind::kWaitEnd, 60, 2, 4},
                                 {IdleKind::kWaitBegin, 20, 1, 4, 1},
                                 {IdleKind::kStop, 90, 2, 0, 1},
                                 {IdleKind::kStart, 10, 1, 0, 1}}),
                      1),
            "await 20-60");
  IdleTimes idle;
  EXPECT_TRUE(idle.Add({10, 1, 0, IdlePath(1), IdleKind::kStart}));
  EXPECT_TRUE(idle.Add({90, 1, 0, IdlePath(1), IdleKind::kStop}));
  idle.Run(50);
  EXPECT_TRUE(idle.Add({60, 1, 4, IdlePath(1), IdleKind::kWaitBegin}));
  EXPECT_TRUE(idle.Add({80, 1, 4, {}, IdleKind::kWaitEnd}));
  idle.Run(100);
  EXPECT_EQ(IdleSpans(idle, 1), "await 60-80");
}

TEST(IdleTimes, WorkThatAGcHasMovedIsMatchedInTheQueuesOrder) {
  const std::initializer_list<IdleTold> events = {
      {IdleKind::kEnqueued, 10, 9, 71}, {IdleKind::kEnqueued, 12, 9, 72},
      {IdleKind::kCollected, 15},       {IdleKind::kDequeued, 30, 1, 1071},
      {IdleKind::kStart, 31, 1, 0, 1},  {IdleKind::kDequeued, 40, 2, 1072},
      {IdleKind::kStart, 41, 2, 0, 2}};
  const IdleTimes idle = IdleAfter(events);
  EXPECT_EQ(IdleSpans(idle, 1), "before 20");
  EXPECT_EQ(IdleSpans(idle, 2), "before 28");
  EXPECT_EQ(idle.moved(), 2u);
  // Without a GC nothing has moved: it was enqueued before anybody looked.
  EXPECT_EQ(IdleSpans(IdleAfter({{IdleKind::kEnqueued, 10, 9, 71},
                                 {IdleKind::kDequeued, 30, 1, 1071},
                                 {IdleKind::kStart, 31, 1, 0, 1}}),
                      1),
            "");
}

TEST(IdleTimes, WhatWasTakenWithoutAWordIsNotWaitedFor) {
  constexpr int64_t kMs = 1'000'000;
  IdleTimes idle;
  EXPECT_TRUE(idle.Add({1, 9, 71, {}, IdleKind::kEnqueued}));  // it ran inline
  EXPECT_TRUE(idle.Add({500 * kMs, 9, 72, {}, IdleKind::kEnqueued}));
  EXPECT_TRUE(idle.Add({501 * kMs, 1, 72, {}, IdleKind::kDequeued}));
  EXPECT_TRUE(idle.Add({510 * kMs, 9, 73, {}, IdleKind::kEnqueued}));
  EXPECT_TRUE(idle.Add({520 * kMs, 0, 0, {}, IdleKind::kCollected}));
  EXPECT_TRUE(idle.Add({530 * kMs, 1, 1073, {}, IdleKind::kDequeued}));
  EXPECT_TRUE(idle.Add({531 * kMs, 1, 0, IdlePath(1), IdleKind::kStart}));
  idle.Run(600 * kMs);
  EXPECT_EQ(IdleSpans(idle, 1), "before " + std::to_string(20 * kMs));
}

TEST(IdleTimes, WhatIsNotToldAnyMoreIsForgotten) {
  EXPECT_EQ(IdleSpans(IdleAfter({{IdleKind::kStart, 10, 1, 0, 1},
                                 {IdleKind::kWaitBegin, 20, 1, 4, 1},
                                 {IdleKind::kLeft, 30},
                                 {IdleKind::kWaitEnd, 40, 2, 4},
                                 {IdleKind::kStop, 90, 2, 0, 1}}),
                      1),
            "await 20-90");
}

TEST(IdleTimes, ManyAwaitsKeepTheirSum) {
  IdleTimes idle;
  EXPECT_TRUE(idle.Add({0, 1, 0, IdlePath(1), IdleKind::kStart}));
  constexpr int kAwaits = 1'000;
  for (int i = 0; i < kAwaits; ++i) {
    const int64_t at = 10 + 10 * i;
    EXPECT_TRUE(idle.Add({at, 1, static_cast<uint64_t>(i), IdlePath(1), IdleKind::kWaitBegin}));
    EXPECT_TRUE(idle.Add({at + 7, 1, static_cast<uint64_t>(i), {}, IdleKind::kWaitEnd}));
  }
  idle.Run(1'000'000);
  const IdleTimes::Times* times = idle.Find(IdlePath(1));
  ASSERT_NE(times, nullptr);
  EXPECT_LE(times->spans.size(), IdleTimes::kMostSpans);
  int64_t sum = 0;
  for (const IdleTimes::Span& s : times->spans) sum += s.to_ns - s.from_ns;
  EXPECT_EQ(sum, 7 * kAwaits);
}

TEST(IdleTimes, NothingGrowsWithoutEnd) {
  IdleTimes idle;
  EXPECT_TRUE(idle.Add({0, 1, 0, IdlePath(1), IdleKind::kStart}));
  idle.Run(0);
  int64_t at = 1;
  for (size_t i = 0; i < 3 * IdleTimes::kMostTasks; ++i) {
    EXPECT_TRUE(idle.Add({at++, i, i, IdlePath(1), IdleKind::kWaitBegin}));
    EXPECT_TRUE(idle.Add({at++, i, i, {}, IdleKind::kEnqueued}));
    if (i % 1'000 == 0) idle.Run(at);
  }
  idle.Run(at);
  size_t taken = 0;
  for (size_t i = 0; i <= IdleTimes::kMostEvents; ++i)
    taken += idle.Add({at, 1, i, {}, IdleKind::kEnqueued}) ? size_t{1} : 0;
  EXPECT_EQ(taken, IdleTimes::kMostEvents);
}

TEST(IdleTimes, TimesMoveWithTheRecording) {
  IdleTimes idle;
  EXPECT_TRUE(idle.Add({1'010, 1, 0, IdlePath(1), IdleKind::kStart}));
  EXPECT_TRUE(idle.Add({1'020, 1, 4, IdlePath(1), IdleKind::kWaitBegin}));
  EXPECT_TRUE(idle.Add({1'030, 9, 88, {}, IdleKind::kEnqueued}));
  EXPECT_TRUE(idle.Add({1'060, 1, 88, {}, IdleKind::kDequeued}));
  idle.Run(1'040);
  idle.Shift(1'000);
  EXPECT_TRUE(idle.Add({61, 1, 4, {}, IdleKind::kWaitEnd}));
  idle.Run(100);
  EXPECT_EQ(IdleSpans(idle, 1), "await 20-30, queue 30-61");
  idle.Forget(IdlePath(1));
  EXPECT_EQ(IdleSpans(idle, 1), "nothing is known");
}

TEST(IdleTimes, RunsTellWhichRequestAThreadIsAt) {
  IdleTimes idle;
  idle.LogRuns();
  for (const IdleTold& e : std::initializer_list<IdleTold>{{IdleKind::kStart, 10, 1, 0, 1},
                                                           {IdleKind::kWaitBegin, 20, 1, 4, 1},
                                                           {IdleKind::kWaitBegin, 22, 1, 5, 1},
                                                           {IdleKind::kStart, 30, 1, 0, 2},
                                                           {IdleKind::kStop, 40, 1, 0, 2},
                                                           {IdleKind::kWaitEnd, 70, 2, 4},
                                                           {IdleKind::kStop, 90, 2, 0, 1}})
    (void)idle.Add(
        {e.time_ns, e.thread, e.id, e.request == 0 ? ActivityPath() : IdlePath(e.request), e.kind});
  idle.Run(1'000);
  const auto at = [&](uint64_t thread, int64_t time_ns) {
    const auto path = idle.runs()->At(thread, time_ns);
    return !path ? 0 : *path == IdlePath(1) ? 1 : 2;
  };
  EXPECT_EQ(at(1, 9), 0);
  EXPECT_EQ(at(1, 15), 1);
  EXPECT_EQ(at(1, 21), 1);  // until the outermost await
  EXPECT_EQ(at(1, 25), 0);
  EXPECT_EQ(at(1, 35), 2);
  EXPECT_EQ(at(1, 45), 0);
  EXPECT_EQ(at(2, 69), 0);
  EXPECT_EQ(at(2, 80), 1);
  EXPECT_EQ(at(2, 95), 0);
  idle.runs()->Forget(50);
  EXPECT_EQ(at(1, 35), 0);
  EXPECT_EQ(at(2, 80), 1);
  idle.Shift(50);
  EXPECT_EQ(at(2, 30), 1);
}

}  // namespace
}  // namespace clrscope::analysis
