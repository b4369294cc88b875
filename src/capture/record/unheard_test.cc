// SPDX-License-Identifier: Apache-2.0
#include "capture/record/unheard.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ipc/testing/idle_process.h"

namespace clrscope::capture {
namespace {

using ipc::testing::IdleProcess;

const std::string kPort = fmt::format("/tmp/clrscope-unheard-test-{}/port.sock", ::getpid());

bool Inherits(pid_t pid) {
  const std::vector<pid_t> pids = Inheritors(kPort);
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

TEST(Inheritors, AreProcessesWithThePortInTheirEnvironment) {
  IdleProcess with({"sh", "-c", "echo ready; cat"}, {{"PORTS", kPort + ",nosuspend"}});
  IdleProcess without({"sh", "-c", "echo ready; cat"}, {});
  ASSERT_TRUE(with.WaitUntilReady() && without.WaitUntilReady());
  EXPECT_TRUE(Inherits(with.pid()));
  EXPECT_FALSE(Inherits(without.pid()));
  EXPECT_FALSE(Inherits(::getpid()));
  with.CloseStdin();
  ASSERT_TRUE(with.Wait(std::chrono::seconds(20)));
  EXPECT_FALSE(Inherits(with.pid()));
}

TEST(Inheritors, AreFoundWithoutTheirParent) {
  IdleProcess parent({"sh", "-c", "sh -c 'echo $$ ready; cat' <&0 & exit 0"}, {{"PORTS", kPort}});
  ASSERT_TRUE(parent.WaitForOutput(" ready\n"));
  ASSERT_TRUE(parent.Wait(std::chrono::seconds(20)));
  EXPECT_TRUE(Inherits(std::stoi(parent.output())));
  parent.CloseStdin();
}

TEST(Inheritors, OfAnEmptyEnvironmentThereAreNone) {
  IdleProcess program({"env", "-i", "/bin/sh", "-c", "echo ready; read line"}, {{"PORTS", kPort}});
  ASSERT_TRUE(program.WaitUntilReady());
  EXPECT_FALSE(Inherits(program.pid()));
  EXPECT_FALSE(MayInherit(program.pid(), kPort));
}

}  // namespace
}  // namespace clrscope::capture
