// SPDX-License-Identifier: Apache-2.0
#include "agent/host/heartbeat.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "agent/com/corprof.h"
#include "agent/host/clock.h"
#include "agent/testing/agent_on_fake.h"
#include "agent/testing/heartbeat_reader.h"

namespace clrscope::agent {
namespace {

static_assert(MethodName<&ICorProfilerInfo::GetModuleInfo2>() == "GetModuleInfo2");

TEST(Heartbeat, IsReadFromOutsideOnceItIsShared) {
  Heartbeat heartbeat;
  { const Heartbeat::Call call(heartbeat, "Before"); }
  EXPECT_FALSE(ReadHeartbeatHere().has_value());
  heartbeat.Share();
  const int64_t before = MonotonicNs();
  {
    const Heartbeat::Call call(heartbeat, "SuspendRuntime");
    EXPECT_EQ(heartbeat.call(), "SuspendRuntime");
    const auto inside = ReadHeartbeatHere();
    ASSERT_TRUE(inside.has_value());
    EXPECT_EQ(inside->call, "SuspendRuntime");
    EXPECT_GE(inside->begin_ns, before);
    EXPECT_LE(inside->begin_ns, MonotonicNs());
    EXPECT_EQ(inside->end_ns, 0);
  }
  EXPECT_EQ(heartbeat.call(), "");
  const auto after = ReadHeartbeatHere();
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->call, "SuspendRuntime");
  EXPECT_GE(after->end_ns, after->begin_ns);
  EXPECT_LE(after->end_ns, MonotonicNs());
}

TEST(Heartbeat, EndsWithItsAgent) {
  {
    Heartbeat heartbeat;
    heartbeat.Share();
    EXPECT_TRUE(ReadHeartbeatHere().has_value());
  }
  EXPECT_FALSE(ReadHeartbeatHere().has_value());
}

TEST(Heartbeat, CallsWithinACallArePartOfIt) {
  Heartbeat heartbeat;
  heartbeat.Share();
  const Heartbeat::Call all(heartbeat, "All");
  { const Heartbeat::Call one(heartbeat, "One"); }
  EXPECT_EQ(heartbeat.call(), "All");
  const auto reading = ReadHeartbeatHere();
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->call, "All");
  EXPECT_EQ(reading->end_ns, 0);
}

TEST(Heartbeat, KnowsTheLongestCallAndNotTheWait) {
  Heartbeat heartbeat;
  // Returns how long it was, seen from outside.
  const auto last = [&](std::string_view name, int64_t at_least_ns) {
    const int64_t outside = MonotonicNs();
    {
      const Heartbeat::Call call(heartbeat, name);
      const int64_t begin = MonotonicNs();
      while (MonotonicNs() - begin < at_least_ns) {
      }
    }
    return MonotonicNs() - outside;
  };
  EXPECT_EQ(heartbeat.longest(), "");
  int64_t longest = 0;
  do {
    const int64_t before = heartbeat.longest_ns();
    last("Long", before + 1'000'000);
    longest = heartbeat.longest_ns();
    EXPECT_GE(longest, before + 1'000'000);
  } while (last("Short", 0) > longest);  // this thread may not run for a while
  last(HeartbeatPage::kWait, longest + 1);
  EXPECT_EQ(heartbeat.longest(), "Long");
  EXPECT_EQ(heartbeat.longest_ns(), longest);
}

TEST(Heartbeat, LongNamesAreCut) {
  Heartbeat heartbeat;
  heartbeat.Share();
  static const std::string name(100, 'x');
  const Heartbeat::Call call(heartbeat, name);
  const auto reading = ReadHeartbeatHere();
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->call, std::string(HeartbeatPage::kNameBytes, 'x'));
}

// What is read is one call's name and beginning, whenever that is.
TEST(Heartbeat, NothingIsReadThatIsHalfWritten) {
  Heartbeat heartbeat;
  heartbeat.Share();
  const HeartbeatPage* page = MapHeartbeatHere();
  ASSERT_NE(page, nullptr);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop.load()) {
      { const Heartbeat::Call call(heartbeat, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"); }
      { const Heartbeat::Call call(heartbeat, "bbbbbbbbbbbbbbbb"); }
    }
  });
  int64_t latest = 0;
  constexpr int kReadings = 50'000, kMostTimes = 2 * kReadings;
  int readings = 0;
  for (int i = 0; i < kMostTimes && readings < kReadings && !HasFailure(); ++i) {
    const auto reading = ReadHeartbeatPage(*page);
    if (!reading.has_value()) continue;  // the writer lost its processor half way
    ++readings;
    EXPECT_TRUE(reading->call.empty() || reading->call == std::string(32, 'a') ||
                reading->call == std::string(16, 'b'))
        << reading->call;
    EXPECT_GE(reading->begin_ns, latest);
    EXPECT_TRUE(reading->end_ns == 0 || reading->end_ns >= reading->begin_ns);
    latest = reading->begin_ns;
  }
  EXPECT_EQ(readings, kReadings);
  stop.store(true);
  writer.join();
}

// The agent's thread waits for the thread that makes the call.
TEST(Heartbeat, SaysWhichSessionCallTheAgentWaitsFor) {
  AgentOnFake agent("every=10m");
  EXPECT_EQ(agent.Ask("stop"), "ok");
  agent.runtime.beginning_sessions.Close();
  const int64_t before = MonotonicNs();
  std::thread starter([&] { EXPECT_EQ(agent.Ask("start"), "ok"); });
  const auto stuck = [] {
    const auto reading = ReadHeartbeatHere();
    return reading.has_value() && reading->call == "EventPipeStartSession" && reading->end_ns == 0;
  };
  EXPECT_TRUE(Until(20, stuck));
  EXPECT_GE(ReadHeartbeatHere()->begin_ns, before);
  agent.runtime.beginning_sessions.Open();
  starter.join();
  EXPECT_TRUE(Until(20, [&] { return !stuck(); }));
  EXPECT_GT(agent.Status("longest_call_ns"), 0);
}

}  // namespace
}  // namespace clrscope::agent
