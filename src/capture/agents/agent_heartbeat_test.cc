// SPDX-License-Identifier: Apache-2.0
#include "capture/agents/agent_heartbeat.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/heartbeat_page.h"

namespace clrscope::capture {
namespace {

int64_t MonotonicNs() {
  timespec t{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

// This process has a heartbeat, as an agent in it would write it.
class AgentHeartbeatTest : public ::testing::Test {
 protected:
  void Write(std::string_view call, int64_t begin_ns, int64_t end_ns, uint64_t sequence = 2) {
    page_.sequence.store(sequence);
    page_.begin_ns.store(begin_ns);
    page_.end_ns.store(end_ns);
    char name[HeartbeatPage::kNameBytes] = {};
    std::memcpy(name, call.data(), call.size());
    for (size_t i = 0; i < page_.name.size(); ++i) {
      uint64_t word = 0;
      std::memcpy(&word, name + 8 * i, 8);
      page_.name[i].store(word);
    }
    Save(sizeof page_);
  }
  void Save(size_t bytes) {
    ASSERT_EQ(::ftruncate(file_.get(), 0), 0);
    ASSERT_EQ(::pwrite(file_.get(), &page_, bytes, 0), static_cast<ssize_t>(bytes));
  }
  static std::string Describe() { return DescribeHeartbeat(::getpid()); }

  HeartbeatPage page_;
  Fd file_{::memfd_create(HeartbeatPage::kFileName, MFD_CLOEXEC)};
};

TEST_F(AgentHeartbeatTest, ReadsTheCallThatGoesOn) {
  Write("SuspendRuntime", MonotonicNs() - 12'300'000'000, 0);
  const auto beat = ReadHeartbeat(::getpid());
  ASSERT_TRUE(beat.has_value());
  EXPECT_EQ(beat->call, "SuspendRuntime");
  EXPECT_TRUE(beat->in_call);
  EXPECT_GE(beat->since, std::chrono::milliseconds(12'300));
  EXPECT_TRUE(Describe().starts_with("its thread has been in SuspendRuntime for 12."))
      << Describe();
  EXPECT_TRUE(IsStuck(::getpid(), std::chrono::seconds(12)));
  EXPECT_FALSE(IsStuck(::getpid(), std::chrono::minutes(10)));
}

TEST_F(AgentHeartbeatTest, ReadsTheLastCall) {
  const int64_t now = MonotonicNs();
  Write("GetFunctionInfo2", now - 9'000'000'000, now - 5'000'000'000);
  const auto beat = ReadHeartbeat(::getpid());
  ASSERT_TRUE(beat.has_value());
  EXPECT_FALSE(beat->in_call);
  EXPECT_FALSE(IsStuck(::getpid(), std::chrono::seconds(1)));
  EXPECT_GE(beat->since, std::chrono::seconds(5));
  EXPECT_TRUE(Describe().starts_with("the last call of its thread, GetFunctionInfo2, ended 5."))
      << Describe();
}

TEST_F(AgentHeartbeatTest, TellsTheWaitFromCalls) {
  const int64_t now = MonotonicNs();
  Write("poll", now - 5'000'000'000, 0);
  EXPECT_TRUE(Describe().starts_with("its thread has not run for 5.")) << Describe();
  EXPECT_FALSE(IsStuck(::getpid(), std::chrono::seconds(1)));
  Write("poll", now - 9'000'000'000, now - 5'000'000'000);
  EXPECT_TRUE(Describe().starts_with("its thread came out of its wait 5.")) << Describe();
}

TEST_F(AgentHeartbeatTest, SaysThatNoCallWasMade) {
  Write("", 0, 0, 0);
  const auto beat = ReadHeartbeat(::getpid());
  ASSERT_TRUE(beat.has_value());
  EXPECT_FALSE(beat->in_call);
  EXPECT_EQ(beat->since, std::chrono::nanoseconds(0));
  EXPECT_EQ(Describe(), "its thread has made no call of the runtime yet");
}

TEST_F(AgentHeartbeatTest, SaysThatTheProcessIsStopped) {
  Write("SuspendRuntime", MonotonicNs(), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (;;) ::pause();
  }
  ASSERT_EQ(::kill(child, SIGSTOP), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  EXPECT_EQ(DescribeHeartbeat(child), "the process is stopped, by a signal or a debugger");
  EXPECT_TRUE(IsStuck(child, std::chrono::minutes(10)));
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
}

TEST_F(AgentHeartbeatTest, KnowsNothingOfWhatIsNoHeartbeat) {
  Write("SuspendRuntime", MonotonicNs(), 0, /*sequence=*/3);
  EXPECT_FALSE(ReadHeartbeat(::getpid()).has_value()) << "half written, and nobody goes on";
  Write("SuspendRuntime", MonotonicNs(), 0);
  Save(sizeof page_ - 1);
  EXPECT_FALSE(ReadHeartbeat(::getpid()).has_value()) << "too short";
  page_.magic = 0;
  Save(sizeof page_);
  EXPECT_FALSE(ReadHeartbeat(::getpid()).has_value()) << "another layout";
  file_.reset();
  EXPECT_FALSE(ReadHeartbeat(::getpid()).has_value()) << "there is none";
  EXPECT_EQ(Describe(), "");
}

}  // namespace
}  // namespace clrscope::capture
