// SPDX-License-Identifier: Apache-2.0
#include "clr/gc_thread_clock.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "clr/gc_thread_names.h"

namespace clrscope::clr {
namespace {

namespace fs = std::filesystem;

class GcThreadClockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/clrscope_gc_clock_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    tasks_ = name;
  }
  void TearDown() override { fs::remove_all(tasks_); }
  void Thread(int id, const std::string& name, int64_t ns) {
    const fs::path task = tasks_ / std::to_string(id);
    fs::create_directories(task);
    std::ofstream(task / "stat") << id << " (" << name << ") S 1 1 1 0 -1 0 0 0 0 0 3 0 0\n";
    std::ofstream(task / "schedstat") << ns << " 0 5\n";
  }

  fs::path tasks_;
};

TEST_F(GcThreadClockTest, ANumberThatIsGivenAgainIsAnotherThread) {
  Thread(8, ".NET Server GC", 1000);
  GcThreadClock clock(tasks_.string());
  ASSERT_TRUE(clock.Read());
  EXPECT_EQ(clock.Of(GcThreadClock::kServer).cpu_ns, 0);
  Thread(8, ".NET Server GC", 1500);
  ASSERT_TRUE(clock.Read());
  Thread(8, ".NET Server GC", 20);  // less than before: it began anew
  ASSERT_TRUE(clock.Read());
  EXPECT_EQ(clock.Of(GcThreadClock::kServer).cpu_ns, 520);
  Thread(8, ".NET BGC", 7);
  ASSERT_TRUE(clock.Read());
  EXPECT_EQ(clock.Of(GcThreadClock::kServer).cpu_ns, 520);
  EXPECT_EQ(clock.Of(GcThreadClock::kBackground).cpu_ns, 7);
  EXPECT_TRUE(clock.IsGcThread(8));
}

TEST_F(GcThreadClockTest, WhatCannotBeReadForAMomentIsNotCountedTwice) {
  Thread(8, ".NET BGC", 1000);
  GcThreadClock clock(tasks_.string());
  ASSERT_TRUE(clock.Read());
  fs::rename(tasks_ / "8" / "stat", tasks_ / "8" / "hidden");
  ASSERT_TRUE(clock.Read());
  fs::rename(tasks_ / "8" / "hidden", tasks_ / "8" / "stat");
  Thread(8, ".NET BGC", 1010);
  ASSERT_TRUE(clock.Read());
  EXPECT_EQ(clock.Of(GcThreadClock::kBackground).cpu_ns, 10);
}

TEST_F(GcThreadClockTest, ARestartForgetsWhoIsGone) {
  GcThreadClock clock(tasks_.string());
  ASSERT_TRUE(clock.Read());
  Thread(9, ".NET BGC", 30);
  ASSERT_TRUE(clock.Read());
  fs::remove_all(tasks_ / "9");
  ASSERT_TRUE(clock.Read());
  EXPECT_EQ(clock.Of(GcThreadClock::kBackground).threads, 1);
  EXPECT_EQ(clock.Of(GcThreadClock::kBackground).cpu_ns, 30);
  EXPECT_FALSE(clock.IsGcThread(9));
  clock.Restart();
  EXPECT_EQ(clock.Of(GcThreadClock::kBackground).threads, 0);
  EXPECT_EQ(clock.Of(GcThreadClock::kBackground).cpu_ns, 0);
  EXPECT_FALSE(GcThreadClock("/nowhere").Read());
}

TEST(GcThreadClock, AThreadOfThisProcess) {
  GcThreadClock clock("/proc/self/task");
  ASSERT_TRUE(clock.Read());
  std::atomic<uint32_t> id = 0;
  std::atomic<bool> stop = false;
  std::thread thread([&] {
    (void)::prctl(PR_SET_NAME, std::string(kServerGcThread).c_str());
    id = static_cast<uint32_t>(::syscall(SYS_gettid));
    while (!stop) {
    }
  });
  while (id == 0) std::this_thread::yield();
  for (int i = 0; i < 2000 && clock.Of(GcThreadClock::kServer).cpu_ns == 0; ++i) {
    ::usleep(5000);
    ASSERT_TRUE(clock.Read());
    EXPECT_TRUE(clock.IsGcThread(id));
  }
  stop = true;
  thread.join();
  EXPECT_GT(clock.Of(GcThreadClock::kServer).cpu_ns, 0);
  EXPECT_EQ(clock.Of(GcThreadClock::kServer).threads, 1);
}

}  // namespace
}  // namespace clrscope::clr
