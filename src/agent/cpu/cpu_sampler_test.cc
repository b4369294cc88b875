// SPDX-License-Identifier: Apache-2.0
// The sampler on this very process.
#include "agent/cpu/cpu_sampler.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "agent/cpu/cpu_signal.h"
#include "agent/cpu/thread_files.h"
#include "agent/host/clock.h"

#if defined(__SANITIZE_ADDRESS__)
// Its handler of SIGSEGV is on an alternate stack, and any signal may interrupt it there.
extern "C" const char* __asan_default_options() { return "use_sigaltstack=0"; }
#endif

namespace clrscope::agent {
namespace {

constexpr uint32_t kHz = 99;

std::string TextOf(const char* path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

struct Took {
  uint64_t samples = 0, periods = 0, in_kernel = 0, cut = 0, with_callers = 0;
  int64_t last_ns = 0;
};

// What came of a sampler so far.
class Reader {
 public:
  auto send() {
    return [this](std::string_view bytes) {
      const Result<profile::CpuBatchHead> head = profile::DecodeCpuBatch(
          AsBytes(bytes.data(), bytes.size()), [this](const profile::CpuBatchSample& s) {
            Took& t = by_thread[s.thread];
            ++t.samples;
            t.periods += s.periods;
            t.in_kernel += s.in_kernel ? 1u : 0u;
            t.cut += s.cut ? 1u : 0u;
            t.with_callers += s.chain.empty() ? 0u : 1u;
            EXPECT_GE(s.time_ns, t.last_ns);
            t.last_ns = s.time_ns;
          });
      EXPECT_TRUE(head.ok()) << head.error().message;
      if (head.ok()) last = *head;
      return true;
    };
  }
  Took of(pid_t thread) { return by_thread[static_cast<uint32_t>(thread)]; }

  std::map<uint32_t, Took> by_thread;
  profile::CpuBatchHead last;
};

void Burn(int64_t ns) {
  const int64_t end = ClockNs(CLOCK_THREAD_CPUTIME_ID) + ns;
  volatile uint64_t x = 1;
  while (ClockNs(CLOCK_THREAD_CPUTIME_ID) < end)
    for (int i = 0; i < 10'000; ++i) x = x * 3 + 1;
}

// A sampler on a thread of its own, stepped until it is told to end.
class Running {
 public:
  explicit Running(uint32_t hz = kHz) {
    std::atomic<bool> open{false}, begun{false};
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this, hz, &open, &begun] {
      // Not before the test's own thread takes signals again: who blocks them is not watched.
      while (!open.load()) std::this_thread::yield();
      status_ = sampler_.Start(hz, MonotonicNs());
      begun.store(true);
      while (!over_.load()) {
        sampler_.Step(MonotonicNs(), true, reader.send());
        const timespec pause{0, 2'000'000};
        (void)::nanosleep(&pause, nullptr);
      }
      sampler_.Finish(reader.send());
    });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    open.store(true);
    while (!begun.load()) std::this_thread::yield();
  }
  ~Running() { End(); }
  void End() {
    over_.store(true);
    if (thread_.joinable()) thread_.join();
  }
  const Status& status() const { return status_; }
  CpuTimeSampler& sampler() { return sampler_; }

  Reader reader;

 private:
  CpuTimeSampler sampler_;
  Status status_ = OkStatus();
  std::atomic<bool> over_{false};
  std::thread thread_;
};

TEST(CpuTimeSampler, TakesAsManySamplesAsCpuTime) {
  Running running;
  ASSERT_TRUE(running.status().ok()) << running.status().error().message;
  constexpr double kSeconds = 1.5;
  std::atomic<pid_t> other{0};
  std::thread idle([&] {
    other.store(::gettid());
    const timespec pause{1, 0};
    (void)::nanosleep(&pause, nullptr);
  });
  Burn(static_cast<int64_t>(kSeconds * 1e9));
  idle.join();
  running.End();
  const Took mine = running.reader.of(::gettid());
  EXPECT_NEAR(static_cast<double>(mine.periods), kSeconds * kHz, 4);
  EXPECT_GT(mine.with_callers, mine.samples / 2);
  EXPECT_EQ(mine.cut, 0u);
  EXPECT_LE(running.reader.of(other.load()).periods, 1u);
  EXPECT_TRUE(running.reader.last.last);
  EXPECT_EQ(running.reader.last.lost, 0u);
  EXPECT_GT(running.reader.last.tick_ns, 0);
}

TEST(CpuTimeSampler, TellsTimeInTheKernel) {
  Running running;
  ASSERT_TRUE(running.status().ok()) << running.status().error().message;
  std::ifstream zero("/dev/zero");
  const int64_t end = ClockNs(CLOCK_THREAD_CPUTIME_ID) + 1'000'000'000;
  std::vector<char> room(1 << 20);
  while (ClockNs(CLOCK_THREAD_CPUTIME_ID) < end)
    zero.read(room.data(), static_cast<std::streamsize>(room.size()));
  running.End();
  const Took mine = running.reader.of(::gettid());
  // In a long system call timers run out several times, and their signals come as one.
  EXPECT_GT(mine.periods, 50u);
  EXPECT_GT(mine.samples, 10u);
  EXPECT_GT(static_cast<double>(mine.in_kernel), 0.6 * static_cast<double>(mine.samples));
}

TEST(CpuTimeSampler, FollowsThreadsThatBegin) {
  Running running;
  ASSERT_TRUE(running.status().ok()) << running.status().error().message;
  uint64_t periods = 0;
  std::vector<pid_t> ids;
  // Native ones are seen up to 50 ms late, later on a busy machine.
  for (int i = 0; i < 4; ++i)
    std::thread([&] {
      ids.push_back(::gettid());
      Burn(400'000'000);
    }).join();
  running.End();
  for (const pid_t id : ids) periods += running.reader.of(id).periods;
  EXPECT_GT(periods, 90u);  // of 158
  EXPECT_LE(periods, 170u);
}

TEST(CpuTimeSampler, LeavesNothingBehind) {
  Burn(1'000'000);
  const std::string timers = TextOf("/proc/self/timers");
  std::vector<struct sigaction> before(65), after(65);
  for (int s = 1; s < 65; ++s) (void)::sigaction(s, nullptr, &before[static_cast<size_t>(s)]);
  for (int round = 0; round < 20; ++round) {
    Running running(997);
    ASSERT_TRUE(running.status().ok()) << running.status().error().message;
    Burn(20'000'000);
    if (round == 0) {
      EXPECT_NE(TextOf("/proc/self/timers"), timers);
    }
  }
  EXPECT_EQ(TextOf("/proc/self/timers"), timers);
  EXPECT_FALSE(CpuSignal::taken());
  for (int s = 1; s < 65; ++s) {
    (void)::sigaction(s, nullptr, &after[static_cast<size_t>(s)]);
    EXPECT_EQ(before[static_cast<size_t>(s)].sa_sigaction,
              after[static_cast<size_t>(s)].sa_sigaction)
        << s;
  }
}

struct sigaction ActionOf(int signal) {
  struct sigaction now {};
  (void)::sigaction(signal, nullptr, &now);
  return now;
}

std::atomic<int> g_passed_on{0}, g_of_timers{0};

// As the runtime has one for the signal, with its own mask and flags.
TEST(CpuTimeSampler, PassesOnWhatNoTimerSent) {
  struct sigaction runtimes {
  }, standard{};
  runtimes.sa_sigaction = [](int, siginfo_t* info, void*) {
    g_passed_on.fetch_add(1);
    if (info->si_code == SI_TIMER) g_of_timers.fetch_add(1);
  };
  runtimes.sa_flags = SA_SIGINFO | SA_RESTART;
  ASSERT_EQ(::sigaction(SIGRTMIN, &runtimes, nullptr), 0);
  constexpr int kSent = 500;
  {
    Running running(997);
    ASSERT_TRUE(running.status().ok()) << running.status().error().message;
    const struct sigaction ours = ActionOf(SIGRTMIN);
    EXPECT_NE(ours.sa_sigaction, runtimes.sa_sigaction);
    EXPECT_EQ(ours.sa_flags & ~0x04000000, runtimes.sa_flags);  // SA_RESTORER, the C library's
    EXPECT_EQ(::sigismember(&ours.sa_mask, SIGUSR1), 0);
    for (int i = 0; i < kSent; ++i) {
      ::pthread_kill(::pthread_self(), SIGRTMIN);
      Burn(400'000);
    }
    running.End();
    EXPECT_GT(running.reader.of(::gettid()).periods, 20u);
  }
  EXPECT_EQ(ActionOf(SIGRTMIN).sa_sigaction, runtimes.sa_sigaction);
  ::pthread_kill(::pthread_self(), SIGRTMIN);
  EXPECT_EQ(g_passed_on.load(), kSent + 1);
  EXPECT_EQ(g_of_timers.load(), 0);
  standard.sa_handler = SIG_DFL;
  (void)::sigaction(SIGRTMIN, &standard, nullptr);
}

// A signal on top of a handler that is on a small alternate stack may end the process.
TEST(CpuTimeSampler, SparesHandlersOfFaults) {
  struct sigaction others {
  }, before{};
  others.sa_handler = [](int) { ::_exit(1); };
  others.sa_flags = SA_ONSTACK;
  ASSERT_EQ(::sigaction(SIGSEGV, &others, &before), 0);
  {
    Running running;
    ASSERT_FALSE(running.status().ok());
    EXPECT_EQ(running.status().error().code, ErrorCode::kRefused);
    EXPECT_NE(running.status().error().message.find("SIGSEGV"), std::string::npos);
  }
  ::sigaddset(&others.sa_mask, SIGRTMIN);
  ASSERT_EQ(::sigaction(SIGSEGV, &others, nullptr), 0);
  {
    Running running;
    ASSERT_TRUE(running.status().ok()) << running.status().error().message;
    ::sigemptyset(&others.sa_mask);
    ASSERT_EQ(::sigaction(SIGSEGV, &others, nullptr), 0);
    for (int i = 0; i < 100 && running.sampler().trouble().empty(); ++i) {
      const timespec pause{0, 50'000'000};
      (void)::nanosleep(&pause, nullptr);
    }
    running.End();
    EXPECT_NE(running.sampler().trouble().find("SIGSEGV"), std::string::npos);
  }
  (void)::sigaction(SIGSEGV, &before, nullptr);
}

TEST(CpuTimeSampler, GivesWayToTheProgram) {
  Running running;
  ASSERT_TRUE(running.status().ok()) << running.status().error().message;
  const int signal = CpuSignal::number();
  struct sigaction mine {
  }, now{};
  mine.sa_handler = [](int) {};
  mine.sa_flags = SA_RESTART;
  ASSERT_EQ(::sigaction(signal, &mine, nullptr), 0);
  for (int i = 0; i < 100 && running.sampler().trouble().empty(); ++i) {
    const timespec pause{0, 50'000'000};
    (void)::nanosleep(&pause, nullptr);
  }
  running.End();
  EXPECT_FALSE(running.sampler().trouble().empty());
  (void)::sigaction(signal, nullptr, &now);
  EXPECT_EQ(now.sa_handler, mine.sa_handler);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  (void)::sigaction(signal, &standard, nullptr);
}

TEST(CpuTimeSampler, NeedsRoomForItsSignals) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_SIGPENDING, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_SIGPENDING, &none), 0);
  {
    Running running;
    ASSERT_FALSE(running.status().ok());
    EXPECT_NE(running.status().error().message.find("ulimit -i"), std::string::npos);
  }
  EXPECT_FALSE(CpuSignal::taken());
  (void)::setrlimit(RLIMIT_SIGPENDING, &before);
}

// Who waits for all signals must not be given ours.
TEST(CpuTimeSampler, LeavesThreadsThatHaveItBlockedAlone) {
  sigset_t all, before;
  ::sigfillset(&all);
  std::atomic<bool> over{false};
  std::atomic<pid_t> id{0};
  std::atomic<int> got{0};
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread waits([&] {
    id.store(::gettid());
    while (!over.load()) {
      const timespec none{0, 0};
      if (::sigtimedwait(&all, nullptr, &none) > 0) got.fetch_add(1);
    }
  });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  while (id.load() == 0) std::this_thread::yield();
  {
    Running running;
    ASSERT_TRUE(running.status().ok()) << running.status().error().message;
    Burn(1'200'000'000);
    running.End();
    EXPECT_EQ(running.reader.of(id.load()).samples, 0u);
    EXPECT_GE(running.reader.last.blocked, 1u);
  }
  over.store(true);
  waits.join();
  EXPECT_EQ(got.load(), 0);
}

TEST(CpuTimeSampler, DoesNotDisturbChildren) {
  Running running;
  ASSERT_TRUE(running.status().ok()) << running.status().error().message;
  const pid_t child = ::fork();
  if (child == 0) {
    Burn(200'000'000);
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

// A small alternate stack is not touched: nothing of the handler lies on it.
void* OnASmallStack(void* raw) {
  auto* touched = static_cast<bool*>(raw);
  static char room[16384];
  std::fill(std::begin(room), std::end(room), '\x5a');
  stack_t stack{};
  stack.ss_sp = room;
  stack.ss_size = sizeof room;
  if (::sigaltstack(&stack, nullptr) != 0) return nullptr;
  Burn(300'000'000);
  stack.ss_flags = SS_DISABLE;
  (void)::sigaltstack(&stack, nullptr);
  *touched = std::any_of(std::begin(room), std::end(room), [](char c) { return c != '\x5a'; });
  return nullptr;
}

TEST(CpuTimeSampler, UsesNoAlternateStackAndLittleOfASmallOne) {
  Running running(997);
  ASSERT_TRUE(running.status().ok()) << running.status().error().message;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, size_t{64} << 10);
  bool touched = true;
  pthread_t thread;
  ASSERT_EQ(::pthread_create(&thread, &attributes, OnASmallStack, &touched), 0);
  ::pthread_attr_destroy(&attributes);
  ::pthread_join(thread, nullptr);
  EXPECT_FALSE(touched);
}

TEST(ThreadFiles, SayWhatTheKernelKnows) {
  bool me = false;
  EXPECT_TRUE(ForEachThread([&](pid_t thread) { me = me || thread == ::gettid(); }));
  EXPECT_TRUE(me);
  sigset_t set, before;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  EXPECT_NE(BlockedSignals(::gettid()) >> (SIGUSR2 - 1) & 1, 0u);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(BlockedSignals(::gettid()) >> (SIGUSR2 - 1) & 1, 0u);
  EXPECT_GT(SignalsLeft(), 0);
  const int64_t last = LastThread();
  std::thread([] {}).join();
  EXPECT_NE(LastThread(), last);
}

}  // namespace
}  // namespace clrscope::agent
