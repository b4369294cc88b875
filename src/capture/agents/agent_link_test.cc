// SPDX-License-Identifier: Apache-2.0
// Agents that do not answer: this process has the socket and the heartbeat of one.
#include "capture/agents/agent_link.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "capture/testing/own_heartbeat.h"
#include "ipc/transport/socket.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

std::string Own(std::string_view words) {
  return "the agent of process " + std::to_string(::getpid()) + " " + std::string(words);
}

class AgentLink : public ::testing::Test {
 protected:
  ~AgentLink() override { (void)::unlink(path_.c_str()); }
  void Listen() { listener_ = ipc::ListenUnix(path_).Take(); }
  static Error Ask() { return AskAgent(::getpid(), "status", ipc::Deadline::After(50ms)).error(); }

  std::string path_ = AgentSocket(::getpid()).Take();
  Fd listener_;
};

TEST_F(AgentLink, SaysWhatASilentAgentIsIn) {
  Listen();
  const OwnHeartbeat own("SuspendRuntime", 3600s, /*in_call=*/true);
  const Error error = Ask();
  EXPECT_EQ(error.code, ErrorCode::kTimeout);
  EXPECT_TRUE(error.message.starts_with(
      Own("does not answer: its thread has been in SuspendRuntime for 36")))
      << error.message;
  const auto feed = AgentSubscription::Open(::getpid(), ipc::Deadline::After(50ms));
  ASSERT_FALSE(feed.ok());
  EXPECT_TRUE(feed.error().message.starts_with(Own("does not answer: its thread has been in")))
      << feed.error().message;
}

TEST_F(AgentLink, AnAgentWithoutAHeartbeatDoesNotAnswer) {
  Listen();
  const Error error = Ask();
  EXPECT_EQ(error.code, ErrorCode::kTimeout);
  EXPECT_EQ(error.message, Own("does not answer"));
}

TEST_F(AgentLink, WithoutAnAgentThereIsNone) {
  const Error error = Ask();
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_EQ(error.message, "process " + std::to_string(::getpid()) + " has no clrscope agent");
}

// It is there until the runtime has freed it.
TEST_F(AgentLink, OneThatWasLetGoIsAsGoodAsGone) {
  OwnHeartbeat own("RequestProfilerDetach", 3600s, /*in_call=*/false);
  own.page().leaves.store(1);
  EXPECT_EQ(Ask().code, ErrorCode::kNotFound);
}

TEST_F(AgentLink, OneThatHangsWhileItLeavesIsNotGone) {
  OwnHeartbeat own("RequestProfilerDetach", 3600s, /*in_call=*/true);
  own.page().leaves.store(1);
  const Error error = Ask();
  EXPECT_EQ(error.code, ErrorCode::kTimeout);
  EXPECT_TRUE(error.message.starts_with(
      Own("does not go: its thread has been in RequestProfilerDetach for 36")))
      << error.message;
}

TEST_F(AgentLink, OneWithoutASocketIsNotGone) {
  const OwnHeartbeat own("poll", 0s, /*in_call=*/true);
  const Error error = Ask();
  EXPECT_EQ(error.code, ErrorCode::kTimeout);
  EXPECT_EQ(error.message, Own("has lost its socket: its thread waits for something to do"));
}

TEST_F(AgentLink, ASocketIsRemovedOnceNobodyListens) {
  Listen();
  const AgentSocketFile file(::getpid());
  file.RemoveIfDead(ipc::Deadline::After({}));
  EXPECT_EQ(::access(path_.c_str(), F_OK), 0);
  (void)Fd(::accept(listener_.get(), nullptr, nullptr));
  // It closes as somebody waits for that.
  std::thread end([this] {
    pollfd called{listener_.get(), POLLIN, 0};
    ::poll(&called, 1, -1);
    std::this_thread::sleep_for(50ms);
    listener_.reset();
  });
  file.RemoveIfDead(ipc::Deadline::After(60s));
  end.join();
  EXPECT_NE(::access(path_.c_str(), F_OK), 0);
  file.RemoveIfDead(ipc::Deadline::After({}));  // there is none any more
}

}  // namespace
}  // namespace clrscope::capture
