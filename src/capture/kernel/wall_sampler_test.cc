// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/wall_sampler.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <map>
#include <memory>

#include "capture/kernel/thread_look.h"
#include "capture/testing/child.h"

namespace clrscope::capture {
namespace {

using profile::ThreadState;
using namespace std::chrono_literals;

constexpr uint32_t kLooksHz = 100;

struct Told {
  int64_t first_ns = INT64_MAX, last_ns = 0;
  uint64_t looks = 0;
  std::map<ThreadState, int64_t> ns;

  void Take(WallSampler& sampler) {
    std::vector<WallSpan> spans;
    (void)sampler.Take(spans);
    for (const WallSpan& s : spans) {
      first_ns = std::min(first_ns, s.first_ns);
      last_ns = std::max(last_ns, s.last_ns);
      looks += s.looks;
      ns[s.state] += s.ns;
    }
  }
};

std::unique_ptr<CodeRules> RulesOf(pid_t pid) {
  return std::make_unique<CodeRules>(std::make_unique<RemoteMemory>(pid));
}

// Blocks it until SIGUSR1 comes.
void AwaitSignal(Shared& s) {
  sigset_t go;
  ::sigemptyset(&go);
  ::sigaddset(&go, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &go, nullptr);
  s.ready = true;
  int signal = 0;
  ::sigwait(&go, &signal);
}

// As many looks as these; what they saw.
void TakeLooks(WallSampler& sampler, uint64_t looks, Told& told) {
  const auto until = std::chrono::steady_clock::now() + 60s;
  for (const uint64_t most = told.looks + looks; told.looks < most;) {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << told.looks << " looks";
    std::this_thread::sleep_for(10ms);
    told.Take(sampler);
  }
}

TEST(WallSampler, AProcessThatSleepsHasAllItsTimeAndLooks) {
  const Child child([](Shared&) {
    for (;;) ::pause();
  });
  child.AwaitState('S');
  const auto rules = RulesOf(child.pid());
  WallSampler sampler(child.pid(), kLooksHz, rules.get());
  Told told;
  TakeLooks(sampler, 2 * kLooksHz, told);
  sampler.Stop();
  told.Take(sampler);
  EXPECT_EQ(told.ns.size(), 1u);
  EXPECT_GE(told.ns[ThreadState::kBlockedUnknown], told.last_ns - told.first_ns);
  // A look in 10 ms. Those that are left out count, too: without them it is one in 100 ms.
  EXPECT_LT(told.last_ns - told.first_ns, static_cast<int64_t>(told.looks) * 80'000'000);
}

// What a child does once it was looked at for a while, and has the code known. It is to wait for
// that by AwaitSignal(), and to set Shared::go at its end.
void WatchTheRest(Child& child, Told& told) {
  child.AwaitReady();
  child.AwaitState('S');
  const auto rules = RulesOf(child.pid());
  WallSampler sampler(child.pid(), kLooksHz, rules.get());
  TakeLooks(sampler, kLooksHz / 2, told);
  ASSERT_EQ(::kill(child.pid(), SIGUSR1), 0);
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!child.shared().go) {
    ASSERT_LT(std::chrono::steady_clock::now(), until);
    std::this_thread::sleep_for(10ms);
  }
  sampler.Stop();
  told.Take(sampler);
}

template <class Wait>
void Timed(std::atomic<uint64_t>& sum, Wait wait) {
  const int64_t begin = ClockNow(CLOCK_MONOTONIC);
  wait();
  sum += static_cast<uint64_t>(ClockNow(CLOCK_MONOTONIC) - begin);
}

void SleepFor(int64_t ns) {
  const timespec pause{0, ns};
  (void)::nanosleep(&pause, nullptr);
}

// The process does not run most of the time. Looks that are left out count for the wait that they
// fall into: halves of what lies between two looks would make both waits equally long.
TEST(WallSampler, WaitsThatFollowOnEachOtherHaveTheirTimes) {
  // Its own clocks: `count` ns of sleep, `other` of a call for input.
  Child child([](Shared& s) {
    AwaitSignal(s);
    for (int i = 0; i < 20; ++i) {
      Timed(s.count, [] { SleepFor(80'000'000); });
      Timed(s.other, [] { (void)::poll(nullptr, 0, 40); });
    }
    s.go = true;
    for (;;) ::pause();
  });
  Told told;
  WatchTheRest(child, told);
  const auto slept = static_cast<int64_t>(child.shared().count.load()),
             polled = static_cast<int64_t>(child.shared().other.load());
  // Where one ends and the next begins is known to half a look, 40 times: a standard error of 20
  // ms, and more where looks come late. Halves are off by 400. While it waits for a CPU that is a
  // state of its own, and its clocks count it.
  const int64_t runnable_ns = told.ns[ThreadState::kRunnable], slack_ns = 200'000'000;
  EXPECT_LE(told.ns[ThreadState::kSleep], slept + slack_ns);
  EXPECT_LE(told.ns[ThreadState::kIo], polled + slack_ns);
  EXPECT_GE(told.ns[ThreadState::kSleep], slept - runnable_ns - slack_ns);
  EXPECT_GE(told.ns[ThreadState::kIo], polled - runnable_ns - slack_ns);
}

// What it waited until it ended counts, though looks were left out since it began.
TEST(WallSampler, AThreadThatEndsHasItsTime) {
  Child child([](Shared& s) {
    AwaitSignal(s);
    for (int i = 0; i < 10; ++i)
      std::thread([&s] { Timed(s.count, [] { SleepFor(90'000'000); }); }).join();
    s.go = true;
    for (;;) ::pause();
  });
  Told told;
  WatchTheRest(child, told);
  // Each may lack a look's time at its end.
  const auto slept = static_cast<int64_t>(child.shared().count.load());
  EXPECT_GT(told.ns[ThreadState::kSleep], slept / 2);
  EXPECT_LT(told.ns[ThreadState::kSleep], slept + 200'000'000);
}

}  // namespace
}  // namespace clrscope::capture
