// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/kernel_sampler.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "capture/kernel/perf_open.h"

namespace clrscope::capture {
namespace {

int64_t NowNs(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

// Functions whose addresses tell who ran. The clock of the thread says for how long.
volatile uint64_t g_work;
std::atomic<bool> g_stop_burning{false};

__attribute__((noinline, aligned(4096))) void BurnA() {
  uint64_t x = g_work;
  for (int i = 0; i < 20'000; ++i) x = x * 3 + 1;
  g_work = x;
}
__attribute__((noinline, aligned(4096))) void BurnB() {
  uint64_t x = g_work;
  for (int i = 0; i < 20'000; ++i) x = x * 5 + 7;
  g_work = x;
}

// Runs for so much of this thread's own time, `share` of it in BurnA. Returns its own time. Pieces
// are of random lengths: equal ones could keep step with the samples.
int64_t Burn(double seconds, double share) {
  std::minstd_rand random(7);
  const int64_t start = NowNs(CLOCK_THREAD_CPUTIME_ID);
  const auto end = start + static_cast<int64_t>(seconds * 1e9);
  int64_t in_a = 0, at = start;
  while (at < end && !g_stop_burning) {
    const bool a = static_cast<double>(in_a) <= share * static_cast<double>(at - start);
    for (auto i = 5 + random() % 60; i > 0; --i) a ? BurnA() : BurnB();
    const int64_t now = NowNs(CLOCK_THREAD_CPUTIME_ID);
    if (a) in_a += now - at;
    at = now;
  }
  return at - start;
}

// How far the samples' time of this thread may be from its own clock, of `own`: a tenth, and what
// each switch to another thread costs, which the two clocks count in different ways.
int64_t SlackOf(int64_t own) {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  return own / 10 + (used.ru_nivcsw + used.ru_nvcsw) * 300'000;
}

bool Within(uint64_t address, void (*function)()) {
  const auto start = reinterpret_cast<uint64_t>(function);
  return address >= start && address < start + 4096;
}

struct Seen {
  uint64_t samples = 0, time_ns = 0, a = 0, b = 0, kernel = 0;
  bool ordered = true;
  int64_t last_ns = 0;
};

class Collected : public KernelSampler::Sink {
 public:
  void OnSample(const CpuSample& s) override {
    Seen& seen = threads[s.tid];
    ++seen.samples;
    seen.time_ns += s.period;
    seen.kernel += s.in_kernel;
    seen.ordered = seen.ordered && s.time_ns >= seen.last_ns;
    seen.last_ns = s.time_ns;
    if (s.user.empty()) return;
    if (!s.in_kernel) seen.a += Within(s.user[0], &BurnA);
    if (!s.in_kernel) seen.b += Within(s.user[0], &BurnB);
  }
  void OnThreadStart(pid_t tid, pid_t, int64_t) override { started.insert(tid); }
  void OnThreadEnd(pid_t tid, int64_t) override { ended.insert(tid); }
  void OnThreadName(pid_t tid, std::string_view name, int64_t) override { names[tid] = name; }

  uint64_t samples() const {
    uint64_t n = 0;
    for (const auto& [tid, seen] : threads) n += seen.samples;
    return n;
  }

  std::map<pid_t, Seen> threads;
  std::map<pid_t, std::string> names;
  std::set<pid_t> started, ended;
};

// What a child tells of itself, and the child, which begins when it is told to.
class Child {
 public:
  // `body`: writes what it has to say with Tell().
  template <class F>
  explicit Child(F&& body) {
    EXPECT_EQ(::pipe(go_), 0);
    EXPECT_EQ(::pipe(told_), 0);
    pid_ = ::fork();
    if (pid_ != 0) {
      ::close(go_[0]), ::close(told_[1]);
      return;
    }
    ::close(go_[1]), ::close(told_[0]);
    ::alarm(60);
    body(*this);
    ::_exit(0);
  }
  ~Child() {
    Go();
    ::close(told_[0]);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  // In the parent.
  pid_t pid() const { return pid_; }
  void Go() {
    if (go_[1] >= 0) ::close(go_[1]);
    go_[1] = -1;
  }
  int64_t Hear() {
    int64_t value = -1;
    return ::read(told_[0], &value, sizeof value) == sizeof value ? value : -1;
  }
  // The same, taking samples meanwhile.
  int64_t Hear(KernelSampler& sampler, KernelSampler::Sink& sink) {
    pollfd p{told_[0], POLLIN, 0};
    while (::poll(&p, 1, 20) == 0) (void)sampler.Read(sink);
    return Hear();
  }
  // In the child.
  void AwaitGo() {
    char c;
    (void)!::read(go_[0], &c, 1);
  }
  void Tell(int64_t value) { (void)!::write(told_[1], &value, sizeof value); }

 private:
  int go_[2], told_[2];
  pid_t pid_ = 0;
};

KernelSampler::Options Rate(uint32_t hz) {
  KernelSampler::Options options;
  options.rate_hz = hz;
  options.stack_bytes = 128;  // so that a buffer holds all of a test
  return options;
}

// The sampler, or the reason why the kernel has none for us.
#define OPEN_OR_SKIP(sampler, pid, options)                                              \
  auto sampler##_result = KernelSampler::Open(pid, options);                             \
  if (!sampler##_result.ok() && sampler##_result.error().code == ErrorCode::kPermission) \
    GTEST_SKIP() << sampler##_result.error().message;                                    \
  ASSERT_TRUE(sampler##_result.ok()) << sampler##_result.error().message;                \
  const std::unique_ptr<KernelSampler> sampler = sampler##_result.Take()

void ReadAllOf(KernelSampler& sampler, Collected& all) {
  while (sampler.Read(all)) continue;
}

TEST(KernelSampler, TimeAndLeavesAreThoseOfTheThreads) {
  Child child([](Child& self) {
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    int64_t own[2], slack[2];
    pid_t tid[2];
    const auto run = [&](int i, double seconds, double share) {
      tid[i] = static_cast<pid_t>(::syscall(SYS_gettid));
      ++ready;
      while (!go) ::usleep(50'000);
      own[i] = Burn(seconds, share);
      slack[i] = SlackOf(own[i]);
    };
    std::thread one(run, 0, 0.8, 0.75), two(run, 1, 0.4, 0.2);
    while (ready != 2) ::usleep(1000);
    self.Tell(0);
    self.AwaitGo();
    go = true;
    one.join(), two.join();
    for (int i = 0; i < 2; ++i) self.Tell(tid[i]), self.Tell(own[i]), self.Tell(slack[i]);
  });
  ASSERT_EQ(child.Hear(), 0);
  const int64_t before = NowNs(CLOCK_MONOTONIC);
  OPEN_OR_SKIP(sampler, child.pid(), Rate(997));
  EXPECT_GE(sampler->descriptors(), 4u);
  child.Go();
  Collected all;
  int64_t told[6];
  for (int64_t& value : told) value = child.Hear(*sampler, all);
  sampler->Stop();
  ReadAllOf(*sampler, all);
  EXPECT_EQ(sampler->losses().lost, 0u);
  EXPECT_EQ(sampler->losses().malformed, 0u);
  EXPECT_EQ(sampler->losses().unopened, 0u);
  const double shares[] = {0.75, 0.2};
  for (int i = 0; i < 2; ++i) {
    const Seen& seen = all.threads[static_cast<pid_t>(told[3 * i])];
    const auto own = static_cast<double>(told[3 * i + 1]);
    const auto slack = static_cast<double>(told[3 * i + 2]);
    EXPECT_GT(own, 0.3e9);
    // Not seen are the last period on each CPU and, without privileges, the kernel's time.
    EXPECT_NEAR(static_cast<double>(seen.time_ns), own, slack);
    // 400 samples and more; 5 standard deviations of a share of them.
    // Whatever interrupts a thread is in the kernel.
    EXPECT_GT(seen.a + seen.b, (seen.samples - seen.kernel) * 9 / 10);
    EXPECT_NEAR(static_cast<double>(seen.a) / static_cast<double>(seen.a + seen.b), shares[i],
                0.12);
    EXPECT_TRUE(seen.ordered);
    EXPECT_GT(seen.last_ns, before);
    EXPECT_LT(seen.last_ns, NowNs(CLOCK_MONOTONIC));
  }
  EXPECT_NEAR(static_cast<double>(sampler->counted_ns()), static_cast<double>(told[1] + told[4]),
              static_cast<double>(told[2] + told[5]));
  EXPECT_FALSE(sampler->Read(all));
}

TEST(KernelSampler, WholeCpusTellThisProcessAlone) {
  Child child([](Child& self) {
    self.Tell(static_cast<int64_t>(::syscall(SYS_gettid)));
    self.AwaitGo();
    const int64_t own = Burn(0.5, 0.5);
    self.Tell(own), self.Tell(SlackOf(own));
    self.AwaitGo();
  });
  const auto tid = static_cast<pid_t>(child.Hear());
  KernelSampler::Options options = Rate(499);
  options.most_cpus_as_a_whole = 4096;
  OPEN_OR_SKIP(sampler, child.pid(), options);
  if (!sampler->whole_machine()) GTEST_SKIP() << "only threads may be sampled";
  child.Go();
  Collected all;
  const auto own = static_cast<double>(child.Hear(*sampler, all));
  const auto slack = static_cast<double>(child.Hear(*sampler, all));
  sampler->Stop();
  ReadAllOf(*sampler, all);
  child.Go();
  ASSERT_EQ(all.threads.size(), 1u) << "others run, too";
  // A share of the samples of each CPU: 5 standard deviations of 250.
  EXPECT_NEAR(static_cast<double>(all.threads[tid].time_ns), own, slack + own / 3);
  EXPECT_EQ(sampler->losses().others, 0u);
}

TEST(KernelSampler, ThreadsThatAreBornLaterAreSampledAndForkedProcessesAreNot) {
  Child child([](Child& self) {
    self.AwaitGo();
    std::thread([&] {
      ::prctl(PR_SET_NAME, "late");
      self.Tell(static_cast<int64_t>(::syscall(SYS_gettid)));
      const int64_t own = Burn(0.3, 0.5);
      self.Tell(own), self.Tell(SlackOf(own));
    }).join();
    const pid_t forked = ::fork();
    if (forked == 0) {
      Burn(0.2, 0.5);
      ::_exit(0);
    }
    ::waitpid(forked, nullptr, 0);
    self.Tell(forked);
  });
  OPEN_OR_SKIP(sampler, child.pid(), Rate(997));
  child.Go();
  const auto tid = static_cast<pid_t>(child.Hear());
  const auto own = static_cast<double>(child.Hear());
  const auto slack = static_cast<double>(child.Hear());
  const auto forked = static_cast<pid_t>(child.Hear());
  ASSERT_GT(forked, 0);
  sampler->Stop();
  Collected all;
  ReadAllOf(*sampler, all);
  ASSERT_TRUE(all.threads.contains(tid));
  EXPECT_NEAR(static_cast<double>(all.threads[tid].time_ns), own, slack);
  EXPECT_FALSE(all.threads.contains(forked));
  EXPECT_TRUE(all.started.contains(tid));
  EXPECT_TRUE(all.ended.contains(tid));
  EXPECT_EQ(all.names[tid], "late");
}

TEST(KernelSampler, ShortThreads) {
  Child child([](Child& self) {
    self.AwaitGo();
    int64_t sum = 0, slack = 0;
    for (int i = 0; i < 50; ++i)
      std::thread([&] {
        const int64_t own = Burn(0.02, 0.5);
        sum += own, slack += SlackOf(own);
        self.Tell(static_cast<int64_t>(::syscall(SYS_gettid)));
      }).join();
    self.Tell(sum), self.Tell(slack);
    self.AwaitGo();
    ::pause();
  });
  OPEN_OR_SKIP(sampler, child.pid(), Rate(997));
  child.Go();
  std::set<pid_t> tids;
  Collected all;
  for (int i = 0; i < 50; ++i) tids.insert(static_cast<pid_t>(child.Hear(*sampler, all)));
  const auto own = static_cast<double>(child.Hear(*sampler, all));
  const auto slack = static_cast<double>(child.Hear(*sampler, all));
  ReadAllOf(*sampler, all);
  uint64_t time = 0;
  for (const pid_t tid : tids) {
    EXPECT_TRUE(all.threads.contains(tid)) << tid;
    EXPECT_TRUE(all.started.contains(tid)) << tid;
    EXPECT_TRUE(all.ended.contains(tid)) << tid;
    time += all.threads[tid].time_ns;
  }
  // Each lacks up to one period of about 20, on each CPU that it ran on.
  EXPECT_NEAR(static_cast<double>(time), own, 0.1 * own + slack);
}

TEST(KernelSampler, ThreadsThatAreBornWhileItOpensAreCountedOnce) {
  Child child([](Child& self) {
    // Each thread makes the next one, so that some are made by one that is opened just then.
    static std::atomic<int64_t> sum, slack;
    static std::atomic<int> running;
    struct Chain {
      static void Next(int left) {
        if (left > 0) ++running, std::thread(&Chain::Next, left - 1).detach();
        const int64_t own = Burn(0.01, 0.5);
        sum += own, slack += SlackOf(own);
        ::usleep(3000);
        --running;
      }
    };
    self.Tell(0);
    running = 1;
    std::thread(&Chain::Next, 150).detach();
    self.AwaitGo();
    while (running != 0) ::usleep(1000);
    self.Tell(sum), self.Tell(slack);
    self.AwaitGo();
    ::pause();
  });
  ASSERT_EQ(child.Hear(), 0);
  OPEN_OR_SKIP(sampler, child.pid(), Rate(997));
  child.Go();
  Collected all;
  const auto own = static_cast<double>(child.Hear(*sampler, all));
  const auto slack = static_cast<double>(child.Hear(*sampler, all));
  ReadAllOf(*sampler, all);
  // What ran before it was open is not seen; nothing is seen twice.
  uint64_t twice = 0;
  for (const auto& [tid, seen] : all.threads)
    if (tid != child.pid()) twice += seen.time_ns > 16'000'000;
  EXPECT_LE(twice, all.threads.size() / 4);  // some are switched often on a machine with much to do
  EXPECT_LT(static_cast<double>(all.samples() * sampler->period_ns()), own + slack);
  EXPECT_GT(all.samples(), 0u);
}

TEST(KernelSampler, WhatFoundNoRoomIsCounted) {
  Child child([](Child& self) {
    self.AwaitGo();
    const int64_t own = Burn(0.5, 0.5);
    self.Tell(own), self.Tell(SlackOf(own));
    self.AwaitGo();
    ::pause();
  });
  KernelSampler::Options options = Rate(2000);
  options.buffer_bytes = 1;  // the smallest there is
  OPEN_OR_SKIP(sampler, child.pid(), options);
  EXPECT_LE(sampler->buffer_bytes(), 64u << 10);
  child.Go();
  const auto own = static_cast<double>(child.Hear());
  const auto slack = static_cast<double>(child.Hear());
  sampler->Stop();
  Collected all;
  ReadAllOf(*sampler, all);
  const uint64_t lost = sampler->losses().lost;
  EXPECT_GT(lost, 0u);
  EXPECT_GT(all.samples(), 0u);
  const double sum = static_cast<double>((all.samples() + lost) * sampler->period_ns());
  EXPECT_NEAR(sum, own, slack);
}

TEST(KernelSampler, ReadsNoMoreThanItIsAsked) {
  Child child([](Child& self) {
    self.AwaitGo();
    self.Tell(Burn(0.2, 0.5));
    self.AwaitGo();
    ::pause();
  });
  OPEN_OR_SKIP(sampler, child.pid(), Rate(997));
  std::vector<pollfd> polls;
  sampler->AddPolls(polls);
  EXPECT_EQ(polls.size(), OnlineCpus().size());
  child.Go();
  ASSERT_GT(child.Hear(), 0);
  Collected all;
  EXPECT_FALSE(sampler->Read(all, 0));
  EXPECT_TRUE(sampler->Read(all, 5));
  EXPECT_LE(all.samples(), 5u);
  ReadAllOf(*sampler, all);
  EXPECT_GT(all.samples(), 100u);
}

TEST(KernelSampler, APollWakesWhenABufferFills) {
  Child child([](Child& self) {
    self.AwaitGo();
    self.Tell(Burn(2.0, 0.5));
  });
  KernelSampler::Options options = Rate(2000);
  options.buffer_bytes = 64u << 10;
  OPEN_OR_SKIP(sampler, child.pid(), options);
  std::vector<pollfd> polls;
  sampler->AddPolls(polls);
  ASSERT_EQ(::poll(polls.data(), polls.size(), 0), 0);
  child.Go();
  EXPECT_GT(::poll(polls.data(), polls.size(), 30'000), 0);
  Collected all;
  EXPECT_TRUE(sampler->Read(all));
  EXPECT_GT(all.samples(), 5u);
  // All threads end: nothing becomes readable for ever by that.
  ASSERT_GT(child.Hear(), 0);
  ::waitid(P_PID, static_cast<id_t>(child.pid()), nullptr, WEXITED | WNOWAIT);
  ReadAllOf(*sampler, all);
  (void)::poll(polls.data(), polls.size(), 0);
  for (pollfd& p : polls) p.revents = 0;
  EXPECT_EQ(::poll(polls.data(), polls.size(), 0), 0);
}

TEST(KernelSampler, ErrorsSayWhatToDo) {
  KernelSampler::Options options;
  auto none = KernelSampler::Open(0x7ffffff0, options);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound) << none.error().message;

  options.rate_hz = 0;
  auto usage = KernelSampler::Open(::getpid(), options);
  ASSERT_FALSE(usage.ok());
  EXPECT_EQ(usage.error().code, ErrorCode::kUsage);

  options = {};
  options.most_descriptors = OnlineCpus().size() - 1;
  auto few = KernelSampler::Open(::getpid(), options);
  ASSERT_FALSE(few.ok());
  if (few.error().code == ErrorCode::kPermission) GTEST_SKIP() << few.error().message;
  EXPECT_NE(few.error().message.find("descriptors"), std::string::npos) << few.error().message;

  EXPECT_NE(PerfRefused(EPERM, 1, true).message.find("perf_event_paranoid"), std::string::npos);
  EXPECT_NE(PerfRefused(ENOSYS, 1, true).message.find("seccomp"), std::string::npos);
  EXPECT_NE(PerfRefused(EACCES, 1, false).message.find("CAP_PERFMON"), std::string::npos);
}

// A child that becomes another user, as most are, and samples itself.
TEST(KernelSampler, WithoutPrivilegesTheKernelIsNotSeen) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: what other tests do is this";
  if (KernelSetting("perf_event_paranoid", -2) != 2) GTEST_SKIP() << "perf_event_paranoid is not 2";
  const pid_t parent = ::getpid();
  Child child([&](Child& self) {
    if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) ::_exit(1);
    ::prctl(PR_SET_DUMPABLE, 1);
    auto foreign = KernelSampler::Open(parent, Rate(997));
    self.Tell(foreign.ok() ? -1 : static_cast<int64_t>(foreign.error().code));
    auto result = KernelSampler::Open(::getpid(), Rate(997));
    self.Tell(result.ok() ? 0 : static_cast<int64_t>(result.error().code) + 1);
    if (!result.ok()) ::_exit(0);
    const auto own = Burn(0.3, 0.5);
    (*result)->Stop();
    Collected all;
    while ((*result)->Read(all)) continue;
    self.Tell((*result)->sees_kernel());
    self.Tell(own), self.Tell(SlackOf(own));
    self.Tell(static_cast<int64_t>(all.samples() * (*result)->period_ns()));
    self.Tell(static_cast<int64_t>((*result)->counted_ns()));
    uint64_t in_kernel = 0;
    for (const auto& [tid, seen] : all.threads) in_kernel += seen.kernel;
    self.Tell(static_cast<int64_t>(in_kernel));
  });
  EXPECT_EQ(child.Hear(), static_cast<int64_t>(ErrorCode::kPermission));
  const int64_t opened = child.Hear();
  if (opened == static_cast<int64_t>(ErrorCode::kPermission) + 1) GTEST_SKIP() << "refused";
  ASSERT_EQ(opened, 0);
  EXPECT_EQ(child.Hear(), 0);
  const auto own = static_cast<double>(child.Hear());
  const auto slack = static_cast<double>(child.Hear());
  EXPECT_NEAR(static_cast<double>(child.Hear()), own, slack);
  EXPECT_NEAR(static_cast<double>(child.Hear()), own, slack);
  EXPECT_EQ(child.Hear(), 0);
}

// With few descriptors allowed at first, and more when they are asked for.
TEST(KernelSampler, RaisesTheLimitOfDescriptors) {
  Child child([](Child& self) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 10;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 20; ++i)
      threads.emplace_back([&] {
        while (!stop) ::usleep(1000);
      });
    auto result = KernelSampler::Open(::getpid(), Rate(99));
    self.Tell(result.ok() ? static_cast<int64_t>((*result)->descriptors())
                          : -static_cast<int64_t>(result.error().code));
    stop = true;
    for (std::thread& t : threads) t.join();
    result = Error{};
    limit.rlim_max = limit.rlim_cur = 12;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    stop = false;
    std::thread other([&] {
      while (!stop) ::usleep(1000);
    });
    std::vector<Fd> taken;
    for (int i = 0; i < 12; ++i) taken.emplace_back(::dup(0));
    result = KernelSampler::Open(::getpid(), Rate(99));
    self.Tell(!result.ok() && result.error().message.find("ulimit -n") != std::string::npos);
    stop = true;
    other.join();
  });
  const int64_t descriptors = child.Hear();
  if (descriptors == -static_cast<int64_t>(ErrorCode::kPermission)) GTEST_SKIP() << "refused";
  EXPECT_GE(descriptors, 21);
  EXPECT_EQ(child.Hear(), 1);
}

TEST(PerfOpen, CpuLists) {
  EXPECT_EQ(ParseCpuList("0-3,8\n"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(ParseCpuList("5"), (std::vector<int>{5}));
  EXPECT_TRUE(ParseCpuList("").empty());
  EXPECT_TRUE(ParseCpuList("x").empty());
  EXPECT_TRUE(ParseCpuList("3-1").empty());
  EXPECT_TRUE(ParseCpuList("1 2").empty());
  EXPECT_EQ(ParseCpuList("0-99999999", 10).size(), 10u);
  EXPECT_FALSE(OnlineCpus().empty());
}

}  // namespace
}  // namespace clrscope::capture
