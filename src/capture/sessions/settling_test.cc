// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/settling.h"

#include <gtest/gtest.h>

#include "capture/testing/child.h"

namespace clrscope::capture {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{10};  // in which the system tells when a process began

TEST(Settling, AProcessSettlesASecondAfterItBegan) {
  const auto begin = std::chrono::steady_clock::now();
  const Child child([](Shared&) {
    for (;;) ::pause();
  });
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_LE(UntilSettled(child.pid()), kSettleTime);
  LetSettle(child.pid());
  const auto end = std::chrono::steady_clock::now();
  EXPECT_GE(end - begin, kSettleTime - 2 * kTick);
  EXPECT_EQ(UntilSettled(child.pid()), milliseconds(0)) << (end - begun).count();
}

TEST(Settling, NobodyWaitsForAProcessThatIsGone) {
  Child child([](Shared&) {});
  const pid_t pid = child.pid();
  child.AwaitState('Z');
  EXPECT_EQ(UntilSettled(pid), milliseconds(0));
  child.Wait();
  EXPECT_EQ(UntilSettled(pid), milliseconds(0));
}

}  // namespace
}  // namespace clrscope::capture
