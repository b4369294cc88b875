// SPDX-License-Identifier: Apache-2.0
// Noticing live .NET processes as they start.
#include "ipc/processes/process_watch.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <thread>

#include "ipc/testing/fake_peer.h"
#include "ipc/testing/idle_process.h"

namespace clrscope::ipc {
namespace {

using testing::IdleProcess;
using testing::TempDir;

class ProcessWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    REQUIRE_IDLE_WORKLOAD();
    watch_ = ProcessWatch::Start().Take();
    (void)watch_->Look();  // those that are there already
  }
  // Looks as a loop does, until `pid` is found. How often it was found.
  int Find(pid_t pid, std::chrono::seconds patience) {
    int found = 0;
    const Deadline deadline = Deadline::After(patience);
    while (found == 0 && !deadline.expired()) {
      pollfd fd{watch_->fd(), POLLIN, 0};
      (void)::poll(&fd, 1, static_cast<int>(ProcessWatch::kInterval.count()));
      for (const ProcessFacts& f : watch_->Look()) {
        EXPECT_NE(f.pid, ::getpid());
        if (f.pid != pid) continue;
        ++found;
        EXPECT_FALSE(f.socket_path.empty());
        EXPECT_EQ(f.runtime, RuntimeKind::kCoreClr);
        EXPECT_NE(f.start_ticks, 0u);
      }
    }
    return found;
  }
  std::unique_ptr<ProcessWatch> watch_;
  TempDir dir_;
};

TEST_F(ProcessWatchTest, AProcessIsFoundOnceWhenItsSocketAppears) {
  IdleProcess idle(IdleProcess::DotnetArgs({"--seconds", "60"}), {});
  EXPECT_EQ(Find(idle.pid(), std::chrono::seconds(30)), 1);
  EXPECT_EQ(Find(idle.pid(), std::chrono::seconds(2)), 0);
}

TEST_F(ProcessWatchTest, AFolderThatNobodyKnewOfIsFoundByItsProcess) {
  IdleProcess idle(IdleProcess::DotnetArgs({"--seconds", "60"}), {{"TMPDIR", dir_.path()}});
  EXPECT_EQ(Find(idle.pid(), std::chrono::seconds(30)), 1);
}

TEST_F(ProcessWatchTest, AProcessThatWasThereBeforeIsFoundToo) {
  IdleProcess idle(IdleProcess::DotnetArgs({"--seconds", "60"}), {{"TMPDIR", dir_.path()}});
  ASSERT_TRUE(idle.WaitUntilReady());
  watch_ = ProcessWatch::Start().Take();
  const std::vector<ProcessFacts> found = watch_->Look();
  EXPECT_TRUE(std::any_of(found.begin(), found.end(),
                          [&](const ProcessFacts& f) { return f.pid == idle.pid(); }));
}

}  // namespace
}  // namespace clrscope::ipc
