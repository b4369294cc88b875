// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/thread_stops.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "capture/kernel/perf_open.h"
#include "capture/kernel/trace_right.h"
#include "capture/testing/child.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;
using End = ThreadStops::End;

void Nothing(const user_regs_struct&) {}

void LetAllGo(ThreadStops& stops) {
  while (stops.late() != 0) {
    stops.LetGoLate();
    std::this_thread::sleep_for(1ms);
  }
}

// A thread that gets no processor stops late.
template <class Look>
void StopInTime(ThreadStops& stops, pid_t thread, Look&& look) {
  const auto until = ThreadStops::Clock::now() + 60s;
  for (;;) {
    const End end = stops.Stop(thread, look);
    if (end == End::kStood) return;
    ASSERT_EQ(end, End::kLate);
    ASSERT_LT(ThreadStops::Clock::now(), until);
    LetAllGo(stops);
  }
}

// One that is stopped again and again at once does not go on at all.
void LetItRun() { std::this_thread::sleep_for(20us); }

TEST(ThreadStops, AThreadStandsWhileItIsLookedAtAndGoesOn) {
  const Child child([](Shared& s) {
    for (;;) ++s.count;
  });
  child.AwaitCount(1);
  TraceOnOwnThread(child.pid(), [&](ThreadStops& stops) {
    for (int i = 0; i < 100; ++i) {
      uint64_t at_first = 0, at_last = 0;
      uint64_t rip = 0;
      StopInTime(stops, child.pid(), [&](const user_regs_struct& r) {
        rip = r.rip;
        at_first = child.shared().count;
        for (volatile int spin = 0; spin < 10'000;) spin = spin + 1;
        at_last = child.shared().count;
      });
      EXPECT_NE(rip, 0u);
      EXPECT_EQ(at_first, at_last);
      child.AwaitCount(at_last + 1);
    }
    EXPECT_EQ(stops.stops(), 100u);
    EXPECT_GE(stops.total(), stops.longest());
    EXPECT_EQ(stops.late(), 0u);
  });
}

// Each is counted by its handler: none is lost, and none comes twice.
TEST(ThreadStops, SignalsThatArriveMeanwhileGoOn) {
  constexpr uint64_t kSignals = 2'000, kLeast = 100;
  const Child child([](Shared& s) {
    static Shared* shared;
    shared = &s;
    struct sigaction action {};
    action.sa_handler = [](int) { ++shared->count; };
    (void)::sigaction(SIGRTMIN + 2, &action, nullptr);
    s.ready = true;
    for (;;) ++s.other;
  });
  child.AwaitReady();
  std::thread sender([&] {
    for (uint64_t sent = 0; sent < kSignals;)
      if (::sigqueue(child.pid(), SIGRTMIN + 2, {}) == 0)
        ++sent;
      else
        std::this_thread::yield();  // as many wait as the user may have
  });
  uint64_t stood = 0;
  TraceOnOwnThread(child.pid(), [&](ThreadStops& stops) {
    const auto until = ThreadStops::Clock::now() + 60s;
    while ((child.shared().count < kSignals || stood < kLeast) &&
           ThreadStops::Clock::now() < until) {
      stood += stops.Stop(child.pid(), Nothing) == End::kStood;
      LetItRun();
    }
  });
  sender.join();
  EXPECT_EQ(child.shared().count, kSignals);
}

TEST(ThreadStops, AProcessThatIsTracedIsLeftToItsTracer) {
  const Child child([](Shared& s) {
    s.ready = true;
    for (;;) ++s.other;
  });
  child.AwaitReady();
  const Child tracer(Tracing(child.pid()));
  tracer.AwaitReady();
  if (tracer.shared().other != 1) GTEST_SKIP() << "processes may not trace each other here";
  TraceOnOwnThread(child.pid(), [&](ThreadStops& stops) {
    EXPECT_EQ(stops.Stop(child.pid(), Nothing), End::kRefused);
    EXPECT_EQ(WhyNoStop(child.pid(), stops.error()),
              fmt::format("process {} traces it already (gdb, strace)", tracer.pid()));
  });
}

TEST(ThreadStops, WhoIsNotThereIsNotStopped) {
  pid_t gone = 0;
  {
    const Child child([](Shared&) {});
    gone = child.pid();
  }
  TraceOnOwnThread(gone,
                   [&](ThreadStops& stops) { EXPECT_EQ(stops.Stop(gone, Nothing), End::kEnded); });
}

// A parent waits in vfork, where no stop reaches it, until its child ends: when it is told to go.
void WaitInVfork(Shared& s) {
  s.ready = true;
  if (::vfork() == 0) {
    while (!s.go) (void)::usleep(1000);
    ::_exit(0);
  }
}

TEST(ThreadStops, AThreadThatDoesNotStopIsGivenUpAndGoesOn) {
  const Child child([](Shared& s) {
    WaitInVfork(s);
    s.other = 1;
    for (;;) ++s.count;
  });
  child.AwaitReady();
  child.AwaitState('D');
  TraceOnOwnThread(child.pid(), [&](ThreadStops& stops) {
    const auto begun = ThreadStops::Clock::now();
    EXPECT_EQ(stops.Stop(child.pid(), Nothing), End::kLate);
    EXPECT_GE(ThreadStops::Clock::now() - begun, ThreadStops::kPatience);
    EXPECT_EQ(stops.late(), 1u);
    EXPECT_EQ(stops.Stop(child.pid(), Nothing), End::kLate);  // nor anybody else
    child.shared().go = true;
    LetAllGo(stops);
    child.AwaitCount(1);
    StopInTime(stops, child.pid(), Nothing);
  });
  child.AwaitCount(child.shared().count + 1);
}

// The same, but whoever traced it does not let it go: its thread's end does.
TEST(ThreadStops, TheEndOfTheTracingThreadLetsGoWhoIsLate) {
  const Child child([](Shared& s) {
    WaitInVfork(s);
    for (;;) ++s.count;
  });
  child.AwaitReady();
  child.AwaitState('D');
  TraceOnOwnThread(child.pid(), [&](ThreadStops& stops) {
    EXPECT_EQ(stops.Stop(child.pid(), Nothing), End::kLate);
  });
  child.shared().go = true;
  child.AwaitCount(1);
}

// The process's parent is told how it ended, also where that is the process which traces it.
TEST(ThreadStops, ExitStatusesAreTheParents) {
  for (int i = 0; i < 100; ++i) {
    Child child([](Shared& s) {
      s.ready = true;
      while (!s.go) ++s.other;
      ::_exit(7);
    });
    child.AwaitReady();
    TraceOnOwnThread(child.pid(), [&](ThreadStops& stops) {
      for (int n = 0; stops.Stop(child.pid(), Nothing) != End::kEnded; ++n) {
        if (n == i % 20) child.shared().go = true;
        LetItRun();
      }
    });
    const int status = child.Wait();
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 7);
  }
}

// An exec ends all other threads, and waits until who traces them has taken their ends. The thread
// that calls it goes on with the number of the first.
TEST(ThreadStops, AProgramThatRunsAnotherOneGoesOn) {
  for (int i = 0; i < 50; ++i) {
    Child child([](Shared& s) {
      std::thread([&s] {
        for (int n = 0; n < 3; ++n)
          std::thread([] {
            for (;;) (void)::getppid();
          }).detach();
        s.other = static_cast<uint64_t>(::syscall(SYS_gettid));
        s.ready = true;
        while (!s.go) (void)::getppid();
        (void)::execl("/bin/sh", "sh", "-c", "exit 9", nullptr);
      }).join();
    });
    child.AwaitReady();
    TraceOnOwnThread(child.pid(), [&](ThreadStops& stops) {
      const auto until = ThreadStops::Clock::now() + 20s;
      for (int n = 0; !stops.over() && ThreadStops::Clock::now() < until; ++n) {
        for (const pid_t thread : ThreadsOf(child.pid())) {
          (void)stops.Stop(thread, Nothing);
          LetItRun();
        }
        if (n == i % 7) child.shared().go = true;
        stops.LetGoLate();
        if (child.HasEnded()) break;
      }
    });
    const int status = child.Wait();
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 9);
  }
}

TEST(ThreadStops, ThreadsThatComeAndGoAreLeftToTheProgram) {
  const Child child([](Shared& s) {
    for (;;) {
      std::thread([&s] {
        for (int n = 0; n < 1000; ++n) ++s.other;
      }).join();
      ++s.count;
    }
  });
  child.AwaitCount(1);
  TraceOnOwnThread(child.pid(), [&](ThreadStops& stops) {
    uint64_t ended = 0;
    for (int n = 0; n < 2'000; ++n)
      for (const pid_t thread : ThreadsOf(child.pid()))
        ended += stops.Stop(thread, Nothing) == End::kEnded;
    EXPECT_GT(ended, 0u);
  });
  child.AwaitCount(child.shared().count + 100);  // each is waited for until its number is free
}

TEST(ThreadStops, ATracerThatIsKilledLetsGo) {
  const Child child([](Shared& s) {
    for (;;) ++s.count;
  });
  child.AwaitCount(1);
  for (int i = 0; i < 30; ++i) {
    const Child tracer([&child](Shared& s) {
      TraceOnOwnThread(child.pid(), [&](ThreadStops& stops) {
        for (;;) {
          (void)stops.Stop(child.pid(), Nothing);
          ++s.count;
        }
      });
    });
    tracer.AwaitCount(1 + static_cast<uint64_t>(i) * 7);
  }
  child.AwaitCount(child.shared().count + 1);
}

}  // namespace
}  // namespace clrscope::capture
