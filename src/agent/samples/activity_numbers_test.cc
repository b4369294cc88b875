// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/activity_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "agent/testing/agent_on_fake.h"
#include "base/units.h"

namespace clrscope::agent {
namespace {

using profile::GcPass;
using profile::IntervalFrame;
using profile::LiveObject;
using profile::LiveSample;

Guid ActivityOf(uint32_t n) { return {0x1000 + n, 0x2A, 0, {1, 2, 3, 4, 5, 6, 7, 8}}; }

// Follows an object of that activity.
void AddObject(LiveSample& live, ActivityNumbers& numbers, uint64_t handle, const Guid& activity,
               int64_t alloc_ns) {
  LiveObject o;
  o.handle = handle;
  o.size = 1 << 20;
  o.node = o.type = 1;
  o.alloc_ns = alloc_ns;
  o.activity = numbers.Of(activity, alloc_ns);
  ASSERT_TRUE(live.Add(o));
}

IntervalFrame TakeFrame(LiveSample& live, ActivityNumbers& numbers, int64_t now_ns) {
  IntervalFrame f;
  live.TakeLives(now_ns, f.lives);
  live.TakeTurnover(f.turnover);
  numbers.FillFrame(live, f);
  return f;
}

void Collect(LiveSample& live, uint32_t gc, const std::set<uint64_t>& dead) {
  const GcPass pass{gc, 2, false};
  live.AfterGcs(std::span(&pass, 1), kSecond, [&](uint64_t handle, int8_t* generation) {
    *generation = 2;
    return !dead.contains(handle);
  });
}

TEST(ActivityNumbers, AreToldOnceAndGivenUpWithTheLastObject) {
  LiveSample live({});
  ActivityNumbers numbers;
  AddObject(live, numbers, 1, ActivityOf(1), 5);
  AddObject(live, numbers, 2, ActivityOf(1), 6);
  AddObject(live, numbers, 3, ActivityOf(2), 7);
  AddObject(live, numbers, 4, Guid{}, 8);
  const IntervalFrame first = TakeFrame(live, numbers, 10);
  ASSERT_EQ(first.activities.size(), 2u) << "told while all are young";
  EXPECT_TRUE(first.requests);
  EXPECT_EQ(first.activities[0].first_ns, 5);
  const Guid id = ActivityOf(1);
  EXPECT_EQ(std::memcmp(first.activities[0].id.data(), &id, sizeof(id)), 0);
  ASSERT_EQ(first.lives.size(), 1u) << "nobody asks whose young ones are";
  EXPECT_EQ(first.lives[0].request, 0u);

  Collect(live, 1, {3});
  const IntervalFrame second = TakeFrame(live, numbers, 20);
  EXPECT_TRUE(second.activities.empty());
  ASSERT_EQ(second.ended_activities.size(), 1u);
  EXPECT_EQ(second.ended_activities[0], first.activities[1].number);
  ASSERT_EQ(second.lives.size(), 2u);
  uint64_t of_first = 0, of_none = 0;
  for (const auto& l : second.lives) (l.request == 0 ? of_none : of_first) += l.value.samples;
  EXPECT_EQ(of_first, 2u);
  EXPECT_EQ(of_none, 1u);

  Collect(live, 2, {1, 2, 4});
  const IntervalFrame third = TakeFrame(live, numbers, 30);
  EXPECT_TRUE(third.lives.empty());
  ASSERT_EQ(third.turnover.size(), 2u);
  EXPECT_EQ(third.ended_activities.size(), 1u) << "its deaths are in this frame still";
  EXPECT_EQ(numbers.size(), 0u);
}

TEST(ActivityNumbers, WhatDiedAtOnceIsNeverTold) {
  LiveSample live({});
  ActivityNumbers numbers;
  AddObject(live, numbers, 1, ActivityOf(1), 5);
  Collect(live, 1, {1});
  const IntervalFrame f = TakeFrame(live, numbers, 10);
  EXPECT_TRUE(f.activities.empty() && f.ended_activities.empty());
  EXPECT_EQ(numbers.size(), 0u);
}

TEST(ActivityNumbers, WhatWasBornAndDiedWithinAnIntervalIsTold) {
  LiveSample live({});
  ActivityNumbers numbers;
  AddObject(live, numbers, 1, ActivityOf(1), 5);
  Collect(live, 1, {});
  Collect(live, 2, {1});
  const IntervalFrame f = TakeFrame(live, numbers, 10);
  ASSERT_EQ(f.turnover.size(), 1u);
  ASSERT_EQ(f.activities.size(), 1u);
  EXPECT_EQ(f.turnover[0].request, f.activities[0].number);
  EXPECT_EQ(f.ended_activities.size(), 1u);
}

TEST(ActivityNumbers, ALongActivityHasOneForEachSpanOfTime) {
  ActivityNumbers numbers;
  const uint32_t early = numbers.Of(ActivityOf(1), 0);
  EXPECT_EQ(numbers.Of(ActivityOf(1), ActivityNumbers::kSpanNs - 1), early);
  EXPECT_NE(numbers.Of(ActivityOf(1), ActivityNumbers::kSpanNs), early);
  EXPECT_NE(numbers.Of(ActivityOf(2), 0), early);
}

TEST(ActivityNumbers, ANewReaderIsToldAllOfThem) {
  LiveSample live({});
  ActivityNumbers numbers;
  AddObject(live, numbers, 1, ActivityOf(1), 5);
  const uint32_t number = TakeFrame(live, numbers, 10).activities.at(0).number;
  EXPECT_TRUE(TakeFrame(live, numbers, 20).activities.empty());
  numbers.Resend();
  EXPECT_EQ(TakeFrame(live, numbers, 30).activities.at(0).number, number);
}

TEST(ActivityNumbers, ThereAreNoMoreThanFollowedObjects) {
  LiveSample::Options options;
  options.cap = 64;
  LiveSample live(options);
  ActivityNumbers numbers;
  for (uint32_t i = 1; i <= 5000; ++i) {
    LiveObject o;
    o.handle = i;
    o.size = 500'000;
    o.activity = numbers.Of(ActivityOf(i), i);
    (void)live.Add(o);
    if (i % 1000 == 0) (void)TakeFrame(live, numbers, i);
  }
  EXPECT_LE(numbers.size(), options.cap);
  EXPECT_GE(numbers.size(), options.cap / 2);
}

TEST(AgentRequests, ObjectsHaveTheActivityOfTheirThread) {
  for (const char* requests : {"requests=1", "requests=0"}) {
    AgentOnFake agent(std::string("every=1h,") + requests);
    agent.runtime.AddModule(1, 0);
    agent.runtime.AddType(100, 1);
    (void)agent.EndInterval();
    const Guid first = ActivityOf(1), none{};
    agent.Allocate(100, 2'000'000, &first);
    agent.Allocate(100, 2'000'000, &none);
    agent.Allocate(100, 2'000'000, nullptr);
    const IntervalFrame f = agent.EndInterval();
    EXPECT_EQ(f.meter.handles, 3u);
    EXPECT_EQ(f.requests, std::string_view(requests) == "requests=1");
    ASSERT_EQ(f.activities.size(), f.requests ? 1u : 0u);
    if (f.requests) {
      EXPECT_EQ(std::memcmp(f.activities[0].id.data(), &first, sizeof(first)), 0);
    }
  }
}

}  // namespace
}  // namespace clrscope::agent
