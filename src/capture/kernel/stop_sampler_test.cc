// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/stop_sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <string>
#include <thread>

#include "capture/proc/thread_times.h"
#include "capture/testing/child.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kHz = 250;

[[gnu::noinline]] void SpinFor(int rounds) {
  for (volatile int i = 0; i < rounds;) i = i + 1;
}

class Counter final : public StopSampler::Sink {
 public:
  void OnSample(const StopSample& s) override {
    ++all;
    in_kernel += s.in_kernel;
    ++by_thread[s.thread];
    EXPECT_FALSE(s.chain.empty());
    EXPECT_EQ(s.chain[0], s.regs.ip);
    EXPECT_FALSE(s.stack.empty());
  }
  int all = 0, in_kernel = 0;
  std::map<pid_t, int> by_thread;
};

bool ShortTurns() {
  utsname system{};
  int major = 0, minor = 0;
  return ::uname(&system) == 0 && std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 12));
}

// Samples it until it has used so much CPU time.
StopSampler::Figures SampleFor(const Child& child, int64_t cpu_ns, Counter& counter) {
  const auto sampler = StopSampler::Open(child.pid(), kHz);
  EXPECT_TRUE(sampler.ok());
  if (!sampler.ok()) return {};
  (*sampler)->Start();
  const int64_t begun = ProcessCpuNs(child.pid());
  while (ProcessCpuNs(child.pid()) - begun < cpu_ns) {
    std::this_thread::sleep_for(10ms);
    (*sampler)->Read(counter);
  }
  (*sampler)->Stop();
  (*sampler)->Read(counter);
  return (*sampler)->figures();
}

// A system call of some 0.2 µs after each 5 µs or so: samples that come some µs late would all be
// of it.
TEST(StopSampler, ShortCodeBetweenSystemCallsIsNotTakenForThem) {
  const Child child([](Shared&) {
    for (;;) {
      SpinFor(3000);
      (void)::syscall(SYS_getppid);
    }
  });
  Counter counter;
  const StopSampler::Figures figures = SampleFor(child, 2'000'000'000, counter);
  EXPECT_GT(counter.all, 100);
  // Linux 6.12 and later: docs/decisions/0017-cpu.md
  if (ShortTurns()) {
    EXPECT_LT(counter.in_kernel, counter.all / 3);
  }
  EXPECT_EQ(figures.refused, 0u);
  EXPECT_GE(figures.stops, static_cast<uint64_t>(counter.all));
}

TEST(StopSampler, TimeInTheKernelIsOfTheKernel) {
  const Child child([](Shared&) {
    static char room[1 << 20];
    const int zeros = ::open("/dev/zero", O_RDONLY);
    while (::read(zeros, room, sizeof room) > 0) {
    }
  });
  Counter counter;
  SampleFor(child, 1'000'000'000, counter);
  EXPECT_GT(counter.all, 50);
  EXPECT_GT(counter.in_kernel, counter.all * 9 / 10);
}

// Who waits is not touched: a call that may return EINTR where a thread is stopped does not.
TEST(StopSampler, ThreadsThatWaitAreNotStopped) {
  const Child child([](Shared& s) {
    for (int i = 0; i < 20; ++i)
      std::thread([&s] {
        for (;;) {
          const int n = ::poll(nullptr, 0, 3'600'000);
          s.other += n < 0 && errno == EINTR;
        }
      }).detach();
    std::this_thread::sleep_for(200ms);
    s.ready = true;
    for (;;) ++s.count;
  });
  child.AwaitReady();
  Counter counter;
  SampleFor(child, 1'000'000'000, counter);
  EXPECT_GT(counter.all, 50);
  EXPECT_EQ(counter.by_thread.size(), 1u);
  EXPECT_EQ(child.shared().other, 0u);
}

// It seldom runs when all threads are looked at.
TEST(StopSampler, ShortWorkAfterLongWaitsIsSampled) {
  const Child child([](Shared& s) {
    s.ready = true;
    for (;;) {
      SpinFor(5'000'000);
      ::usleep(40'000);
    }
  });
  child.AwaitReady();
  Counter counter;
  SampleFor(child, 150'000'000, counter);
  EXPECT_GT(counter.all, 12);  // of 38
}

TEST(StopSampler, EachThreadHasItsPart) {
  const Child child([](Shared& s) {
    for (int i = 0; i < 3; ++i)
      std::thread([] {
        for (;;) SpinFor(1000);
      }).detach();
    s.ready = true;
    ::pause();
  });
  child.AwaitReady();
  Counter counter;
  SampleFor(child, 4'000'000'000, counter);
  EXPECT_EQ(counter.by_thread.size(), 3u);
  for (const auto& [thread, n] : counter.by_thread) {
    EXPECT_GT(n, counter.all / 6) << thread;
    EXPECT_LT(n, counter.all * 2 / 3) << thread;
  }
}

TEST(StopSampler, OneOfAThousandThreadsThatRunsIsFound) {
  const Child child([](Shared& s) {
    for (int i = 0; i < 1000; ++i)
      std::thread([&s] {
        ++s.other;
        for (;;) ::pause();
      }).detach();
    // Until all of them have begun to wait.
    while (s.other < 1000) ::usleep(1000);
    std::this_thread::sleep_for(200ms);
    s.ready = true;
    while (!s.go) ::usleep(1000);
    for (;;) SpinFor(1000);
  });
  child.AwaitReady();
  child.shared().go = true;
  Counter counter;
  SampleFor(child, 2'000'000'000, counter);
  EXPECT_GT(counter.all, 100);
  EXPECT_EQ(counter.by_thread[child.pid()], counter.all);
}

// The sampler's own threads wait for a stop while the program is gone, again and again.
TEST(StopSampler, AProgramThatEndsIsOver) {
  for (int i = 0; i < 20; ++i) {
    Child child([](Shared& s) {
      for (int n = 0; n < 4; ++n)
        std::thread([] {
          for (;;) SpinFor(100);
        }).detach();
      s.ready = true;
      while (!s.go) SpinFor(100);
      ::_exit(5);
    });
    child.AwaitReady();
    const auto sampler = StopSampler::Open(child.pid(), 5000);
    ASSERT_TRUE(sampler.ok());
    (*sampler)->Start();
    Counter counter;
    while (counter.all < 3) (*sampler)->Read(counter);
    child.shared().go = true;
    const int status = child.Wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5) << status;
  }
}

TEST(StopSampler, RatesThatCannotBeAreRefused) {
  EXPECT_EQ(StopSampler::Open(::getpid(), 0).error().code, ErrorCode::kUsage);
  EXPECT_EQ(StopSampler::Open(::getpid(), 10'001).error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace clrscope::capture
