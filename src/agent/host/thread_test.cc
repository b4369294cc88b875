// SPDX-License-Identifier: Apache-2.0
#include "agent/host/thread.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>

#include "agent/testing/agent_on_fake.h"

namespace clrscope::agent {
namespace {

struct SeenMask {
  sigset_t blocked;
  std::atomic<bool> done{false};
};

void* SeeMask(void* raw) {
  auto* seen = static_cast<SeenMask*>(raw);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &seen->blocked);
  seen->done.store(true);
  return nullptr;
}

constexpr int kOfTheRuntime[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};

TEST(AgentThread, TakesTheSignalsOfFaultsAndTheRuntimesOwnAndNoOthers) {
  SeenMask seen;
  ASSERT_TRUE(StartThread(SeeMask, &seen));
  ASSERT_TRUE(Until(20, [&] { return seen.done.load(); }));
  for (const int signal : kOfTheRuntime)
    EXPECT_EQ(::sigismember(&seen.blocked, signal), 0) << signal;
  EXPECT_EQ(::sigismember(&seen.blocked, SIGRTMIN), 0);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD, SIGUSR1, SIGALRM, SIGPROF})
    EXPECT_EQ(::sigismember(&seen.blocked, signal), 1) << signal;
}

TEST(AgentThread, LeavesItsStarterAsItWas) {
  sigset_t set, before, after;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  SeenMask seen;
  ASSERT_TRUE(StartThread(SeeMask, &seen));
  ::pthread_sigmask(SIG_SETMASK, &before, &after);
  ASSERT_TRUE(Until(20, [&] { return seen.done.load(); }));
  EXPECT_EQ(::sigismember(&after, SIGUSR2), 1);
  EXPECT_EQ(::sigismember(&after, SIGTERM), 0);
}

}  // namespace
}  // namespace clrscope::agent
