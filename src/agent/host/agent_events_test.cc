// SPDX-License-Identifier: Apache-2.0
// Exceptions and waits of the whole agent on a fake runtime: sums by stack, type, thread, owner.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <thread>

#include "agent/testing/agent_on_fake.h"

namespace clrscope::agent {
namespace {

using profile::IntervalEvent;
using profile::IntervalFrame;
using profile::Source;

constexpr ModuleId kShop = 1;
constexpr FunctionId kMain = 100, kLock = 101, kWaitOne = 102;
constexpr uintptr_t kCode = 0x100000;

uint32_t ThisThread() { return static_cast<uint32_t>(::syscall(SYS_gettid)); }

class AgentEvents : public ::testing::Test {
 protected:
  explicit AgentEvents(const char* options = "every=1h,exceptions=1,waits=1") : a(options) {
    a.runtime.AddModule(kShop, 0);
    for (const FunctionId f : {kMain, kLock, kWaitOne})
      a.runtime.AddMethod(f, kShop, false, At(f) - 16, 200);
    FakeRuntime::SetStack({{kMain, At(kMain)}});
    (void)a.EndInterval();
  }
  ~AgentEvents() override { FakeRuntime::SetStack({}); }
  static uintptr_t At(FunctionId f) { return kCode + f * 256 + 16; }

  // Leaf first.
  static std::string Stack(const IntervalFrame& f, const IntervalEvent& e) {
    std::string out;
    for (uint32_t n = e.node; n != 0; n = f.nodes[n - 1].parent) {
      const std::string& name = f.methods[f.nodes[n - 1].method].method;
      out += (out.empty() ? "" : " < ") + name.substr(name.rfind('.') + 1);
    }
    return out;
  }
  static std::vector<IntervalEvent> Of(const IntervalFrame& f, Source source) {
    std::vector<IntervalEvent> out;
    std::copy_if(f.events.begin(), f.events.end(), std::back_inserter(out),
                 [source](const IntervalEvent& e) { return e.source == source; });
    return out;
  }
  static uint64_t Lost(const IntervalFrame& f, std::string_view name) {
    for (const auto& [loss, count] : f.losses)
      if (loss == name) return count;
    return 0;
  }

  AgentOnFake a;
};

TEST_F(AgentEvents, ExceptionsAreCountedByTypeStackAndThread) {
  for (int i = 0; i < 3; ++i) a.Throw(u"Shop.OutOfStock");
  a.Throw(u"Shop.OutOfStock", /*by_statement=*/true);
  a.Throw(u"System.TimeoutException");
  uint32_t other = 0;
  std::thread([&] {
    other = ThisThread();
    a.Throw(u"Shop.OutOfStock");
  }).join();
  const IntervalFrame f = a.EndInterval();
  std::map<std::pair<std::string, uint64_t>, std::pair<uint64_t, uint64_t>> told;
  for (const IntervalEvent& e : f.events)
    told[{f.types[e.type - 1].raw, e.thread}] = {e.sums.stands_for, e.sums.amount};
  decltype(told) want = {{{"Shop.OutOfStock", ThisThread()}, {3, 1}},
                         {{"System.TimeoutException", ThisThread()}, {1, 0}},
                         {{"Shop.OutOfStock", other}, {1, 0}}};
  EXPECT_EQ(told, want);
  for (const IntervalEvent& e : f.events)
    EXPECT_EQ(Stack(f, e), e.thread == other ? "[no stack]" : "M100");
  EXPECT_EQ(f.measures, 1u << 0 | 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5);
  EXPECT_TRUE(a.EndInterval().events.empty()) << "an interval holds its own";
  EXPECT_EQ(a.Status("events"), 6);
  EXPECT_EQ(a.Status("samples"), 0) << "those are of allocations";
}

TEST_F(AgentEvents, TypesWithoutEndAreOneAndCounted) {
  const auto name = [](int i) {
    std::u16string text = u"T";
    for (const char c : std::to_string(i)) text += static_cast<char16_t>(c);
    return text;
  };
  constexpr int kMost = ThrownNames::kMost;
  IntervalFrame f;
  uint64_t other = 0, lost = 0, all = 0;
  for (int i = 0; i < kMost + 7; ++i) {
    a.Throw(name(i));
    if (i % 2'000 != 0 && i != kMost + 6) continue;
    f = a.EndInterval();  // a shard holds so many only
    for (const IntervalEvent& e : f.events) {
      all += e.sums.stands_for;
      if (f.types[e.type - 1].raw == "(other)") other += e.sums.stands_for;
    }
    lost += Lost(f, "exception_types_capped");
  }
  EXPECT_EQ(all, static_cast<uint64_t>(kMost + 7));
  EXPECT_EQ(other, 7u);
  EXPECT_EQ(lost, 7u);
}

TEST_F(AgentEvents, AWaitIsOfWhereItBeganAndEndsWhereItEnds) {
  FakeRuntime::SetStack({{kLock, At(kLock)}, {kMain, At(kMain)}});
  a.Contend(4711);
  EXPECT_TRUE(a.EndInterval().events.empty()) << "it goes on";
  FakeRuntime::SetStack({});
  a.HaveLock(2'500);
  const IntervalFrame f = a.EndInterval();
  ASSERT_EQ(f.events.size(), 1u);
  const IntervalEvent& e = f.events[0];
  EXPECT_EQ(e.source, Source::kContention);
  EXPECT_EQ(e.thread, ThisThread());
  EXPECT_EQ(e.owner, 4711u);
  EXPECT_FALSE(e.unfinished);
  EXPECT_EQ(e.sums.amount, 2'500u);
  EXPECT_EQ(e.sums.stands_for, 1u);
  EXPECT_EQ(Stack(f, e), "M101 < M100");
}

// What the lock itself waits by is the same wait.
TEST_F(AgentEvents, TheWaitWithinALockIsPassedOver) {
  FakeRuntime::SetStack({{kLock, At(kLock)}, {kMain, At(kMain)}});
  a.Contend(0);
  FakeRuntime::SetStack({{kWaitOne, At(kWaitOne)}, {kLock, At(kLock)}, {kMain, At(kMain)}});
  a.Wait();
  a.HaveWaited();
  a.HaveLock(100);
  const IntervalFrame f = a.EndInterval();
  EXPECT_EQ(Of(f, Source::kContention).size(), 1u);
  EXPECT_EQ(Of(f, Source::kWait).size(), 0u);
  EXPECT_EQ(Lost(f, "waits_without_end"), 0u);
}

TEST_F(AgentEvents, AnotherWaitSaysThatTheLockWasGivenUp) {
  FakeRuntime::SetStack({{kLock, At(kLock)}, {kMain, At(kMain)}});
  a.Contend(0);
  FakeRuntime::SetStack({{kWaitOne, At(kWaitOne)}, {kMain, At(kMain) + 8}});
  a.Wait();
  a.HaveWaited();
  const IntervalFrame f = a.EndInterval();
  EXPECT_EQ(Of(f, Source::kContention).size(), 0u);
  EXPECT_EQ(Of(f, Source::kWait).size(), 1u);
  EXPECT_EQ(Lost(f, "waits_without_end"), 1u);
}

TEST_F(AgentEvents, AnEndWithoutABeginningIsNone) {
  a.HaveLock(100);
  a.HaveWaited();
  EXPECT_TRUE(a.EndInterval().events.empty());
}

TEST_F(AgentEvents, WhatGoesOnAtTheEndIsToldAsUnfinished) {
  FakeRuntime::SetStack({{kLock, At(kLock)}, {kMain, At(kMain)}});
  a.Contend(4711);
  EXPECT_EQ(a.Ask("set output=" + a.folder() + "/x.pb"), "ok");
  EXPECT_EQ(a.Ask("stop"), "ok");
  EXPECT_TRUE(a.SpoolSays("x.pb", "unfinished", 5));
  EXPECT_EQ(a.Ask("start"), "ok");
  a.HaveLock(100);
  const IntervalFrame told = a.NextFrame();  // by the stop
  ASSERT_EQ(told.events.size(), 1u);
  EXPECT_TRUE(told.events[0].unfinished);
  EXPECT_EQ(Stack(told, told.events[0]), "M101 < M100");
  EXPECT_TRUE(a.EndInterval().events.empty()) << "it was told";
}

// A thread gets the identity of one that has ended: what it waits for is its own.
TEST_F(AgentEvents, AShardOfAnEndedThreadIsAnothersWithAllThatBelongsToIt) {
  std::map<uint32_t, uint64_t> want;
  for (int i = 0; i < 20; ++i) {
    std::thread([&] {
      ++want[ThisThread()];
      FakeRuntime::SetStack({{kMain, At(kMain)}});
      a.Contend(0);
      a.HaveLock(1);
      a.Contend(0);  // gives up
    }).join();
  }
  const IntervalFrame f = a.EndInterval();
  std::map<uint32_t, uint64_t> told;
  for (const IntervalEvent& e : f.events)
    told[static_cast<uint32_t>(e.thread)] += e.sums.stands_for;
  EXPECT_EQ(told, want);
}

TEST_F(AgentEvents, WhatIsMeasuredCanBeChanged) {
  EXPECT_EQ(a.Ask("set exceptions=0,waits=0"), "ok");
  EXPECT_EQ(a.EndInterval().measures, 1u << 0 | 1u << 1 | 1u << 2 | 1u << 4);
  EXPECT_EQ(a.Ask("set allocations=0").substr(0, 6), "error ");
  EXPECT_EQ(a.Ask("set exceptions=1"), "ok");
  a.Throw(u"T");
  EXPECT_EQ(a.EndInterval().events.size(), 1u);
}

class WithoutAllocations : public AgentEvents {
 protected:
  WithoutAllocations() : AgentEvents("every=1h,allocations=0,exceptions=1") {}
};

TEST_F(WithoutAllocations, NothingOfThemIsTold) {
  a.runtime.AddType(5, kShop);
  a.Allocate(5);
  for (int i = 0; i < 10; ++i) a.CollectForAllocation();
  a.Throw(u"T");
  const IntervalFrame f = a.EndInterval();
  EXPECT_TRUE(f.flows.empty());
  EXPECT_EQ(f.measures, 1u << 3);
  EXPECT_EQ(f.events.size(), 1u);
  EXPECT_EQ(f.cpu.process_ns, -1);
  EXPECT_EQ(f.trouble, "") << "it does not listen for them, so it is not deaf";
}

// The runtime may have mixed up what two sessions want: nobody can tell silence from nothing.
TEST_F(WithoutAllocations, TheRuntimeIsRemindedWhileNothingComes) {
  EXPECT_TRUE(Until(10, [this] { return a.Status("sessions_reminded") >= 1; }));
  EXPECT_EQ(a.Status("session_missing_ms"), 0) << "its session goes on";
}

}  // namespace
}  // namespace clrscope::agent
