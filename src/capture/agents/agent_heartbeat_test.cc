// SPDX-License-Identifier: Apache-2.0
#include "capture/agents/agent_heartbeat.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/testing/own_heartbeat.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

Result<AgentHeartbeat> ReadOwn() { return ReadHeartbeat(::getpid()); }

TEST(AgentHeartbeat, IsTheCallThatGoesOn) {
  const OwnHeartbeat own("SuspendRuntime", 12s, /*in_call=*/true);
  const auto beat = ReadOwn();
  ASSERT_TRUE(beat.ok());
  EXPECT_EQ(beat->call, "SuspendRuntime");
  EXPECT_TRUE(beat->in_call);
  EXPECT_FALSE(beat->leaves);
  EXPECT_FALSE(beat->process_stopped);
  EXPECT_GE(beat->since, 12s);
}

TEST(AgentHeartbeat, IsTheLastCallAndItsEnd) {
  const OwnHeartbeat own("GetFunctionInfo2", 5s, /*in_call=*/false);
  const auto beat = ReadOwn();
  ASSERT_TRUE(beat.ok());
  EXPECT_EQ(beat->call, "GetFunctionInfo2");
  EXPECT_FALSE(beat->in_call);
  EXPECT_GE(beat->since, 5s);
}

TEST(AgentHeartbeat, HasNoCallAtFirst) {
  const OwnHeartbeat own;
  const auto beat = ReadOwn();
  ASSERT_TRUE(beat.ok());
  EXPECT_EQ(beat->call, "");
  EXPECT_FALSE(beat->in_call);
  EXPECT_EQ(beat->since, 0s);
}

TEST(AgentHeartbeat, OfTwoTheLatestCounts) {
  const OwnHeartbeat old("RequestProfilerDetach", 9s, /*in_call=*/false);
  const OwnHeartbeat now("SuspendRuntime", 1s, /*in_call=*/true);
  const OwnHeartbeat older("ResumeRuntime", 99s, /*in_call=*/false);
  const auto beat = ReadOwn();
  ASSERT_TRUE(beat.ok());
  EXPECT_EQ(beat->call, "SuspendRuntime");
}

// The process is in a time namespace.
TEST(AgentHeartbeat, ALaterClockIsNotAnAge) {
  const OwnHeartbeat own("SuspendRuntime", -3600s, /*in_call=*/true);
  const auto beat = ReadOwn();
  ASSERT_TRUE(beat.ok());
  EXPECT_EQ(beat->since, 0s);
}

TEST(AgentHeartbeat, KnowsThatTheProcessIsStopped) {
  const OwnHeartbeat own("poll", 0s, /*in_call=*/true);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (;;) ::pause();
  }
  ASSERT_EQ(::kill(child, SIGSTOP), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  const auto beat = ReadHeartbeat(child);
  EXPECT_TRUE(beat.ok() && beat->process_stopped);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(ReadHeartbeat(child).error().code, ErrorCode::kNotFound);
}

TEST(AgentHeartbeat, OtherFilesOfItsNameAreNone) {
  const auto none = [] {
    const auto beat = ReadOwn();
    return !beat.ok() && beat.error().code == ErrorCode::kNotFound && HeartbeatSuffix(beat).empty();
  };
  EXPECT_TRUE(none()) << "there is none";
  {
    OwnHeartbeat own("SuspendRuntime", 1s, true);
    EXPECT_FALSE(none());
    own.page().magic = 0;
    EXPECT_TRUE(none()) << "of another layout";
  }
  {
    OwnHeartbeat own("SuspendRuntime", 1s, true);
    own.page().sequence.store(3);
    EXPECT_TRUE(none()) << "its writer stands still half way";
  }
  {
    const OwnHeartbeat unsealed("SuspendRuntime", 1s, true, sizeof(HeartbeatPage), false);
    EXPECT_TRUE(none()) << "it may become shorter";
  }
  const OwnHeartbeat small("SuspendRuntime", 1s, true, sizeof(HeartbeatPage) - 1);
  EXPECT_TRUE(none()) << "too short";
}

TEST(AgentHeartbeat, IsStuckInALongCallOrAStoppedProcess) {
  AgentHeartbeat beat{"SuspendRuntime", true, 5s};
  EXPECT_TRUE(IsStuck(beat, 5s));
  EXPECT_FALSE(IsStuck(beat, 5001ms));
  beat.in_call = false;
  EXPECT_FALSE(IsStuck(beat, 5s));
  beat.process_stopped = true;
  EXPECT_TRUE(IsStuck(beat, 5s));
  EXPECT_FALSE(IsStuck({"poll", true, 99s}, 5s));
}

TEST(AgentHeartbeat, InWords) {
  EXPECT_EQ(InWords({"SuspendRuntime", true, 12'345ms}),
            "its thread has been in SuspendRuntime for 12.3 s");
  EXPECT_EQ(InWords({"GetModuleInfo2", false, 2'000ms}),
            "the last call of its thread, GetModuleInfo2, ended 2.0 s ago");
  EXPECT_EQ(InWords({"", false, 0ms}), "its thread has made no call of the runtime yet");
  EXPECT_EQ(InWords({"poll", true, 900ms}), "its thread waits for something to do");
  EXPECT_EQ(InWords({"poll", true, 9'000ms}),
            "its thread has not run for 9.0 s: does the process get CPU time?");
  EXPECT_EQ(InWords({"poll", false, 9'000ms}),
            "its thread has made no call of the runtime since it woke up 9.0 s ago");
  EXPECT_EQ(InWords({"SuspendRuntime", true, 9'000ms, false, true}),
            "the process is stopped, by a signal or a debugger");
  EXPECT_EQ(HeartbeatSuffix(Error{ErrorCode::kPermission, "/proc/1/fd/: permission denied"}),
            ": what its thread does cannot be read (/proc/1/fd/: permission denied)");
}

}  // namespace
}  // namespace clrscope::capture
