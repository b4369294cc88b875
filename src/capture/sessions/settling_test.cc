// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/settling.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "capture/sessions/providers.h"
#include "capture/testing/child.h"
#include "ipc/testing/fake_peer.h"

namespace clrscope::capture {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{10};  // in which the system tells when a process began

ipc::DotnetProcess ProcessOf(pid_t pid) {
  ipc::DotnetProcess process;
  process.pid = pid;
  return process;
}

TEST(Settling, AProcessHasSettledASecondAfterItBegan) {
  const auto begin = std::chrono::steady_clock::now();
  const Child child([](Shared&) {
    for (;;) ::pause();
  });
  const milliseconds left = UntilSettled(ProcessOf(child.pid()));
  EXPECT_LE(left, kSettleTime);
  std::this_thread::sleep_for(left);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, kSettleTime - 2 * kTick);
  EXPECT_LE(UntilSettled(ProcessOf(child.pid())), kTick);
}

TEST(Settling, NobodyWaitsForAProcessThatIsGone) {
  Child child([](Shared&) {});
  const pid_t pid = child.pid();
  child.AwaitState('Z');
  EXPECT_EQ(UntilSettled(ProcessOf(pid)), milliseconds(0));
  child.Wait();
  EXPECT_EQ(UntilSettled(ProcessOf(pid)), milliseconds(0));
}

TEST(Settling, AScriptThatBecomesARuntimeBeginsAnew) {
  // init is older than this test; its socket is not.
  const ipc::testing::TempDir dir;
  ipc::DotnetProcess process = ProcessOf(1);
  process.socket_path = dir.path() + "/dotnet-diagnostic-1-1-socket";
  { std::ofstream(process.socket_path) << ""; }
  EXPECT_GT(UntilSettled(process), milliseconds(0));
  EXPECT_LE(UntilSettled(process), kSettleTime);
}

TEST(Settling, SessionsOfTheRuntimesOwnProvidersNeedNotWait) {
  for (const ipc::SessionConfig& config :
       {CodeSession(1, true), ExceptionSession(1), LockSession(1, true), ThreadSampleSession(1),
        EntryPointSession(), LineSession(1), RundownSession(true), SettingsSession(),
        ReminderSession()})
    EXPECT_FALSE(TakesEventSources(config)) << config.providers[0].name;
  for (const ipc::SessionConfig& config : {CounterSession(), RequestSession(1, {}), TaskSession(1),
                                           RoutingSession(1), RequestCounterSession("id", 10)})
    EXPECT_TRUE(TakesEventSources(config)) << config.providers[0].name;
}

}  // namespace
}  // namespace clrscope::capture
