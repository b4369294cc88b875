// SPDX-License-Identifier: Apache-2.0
#include "capture/proc/gc_threads.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace clrscope::capture {
namespace {

namespace fs = std::filesystem;

class GcThreadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/clrscope_gc_threads_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    proc_ = name;
    fs::create_directories(proc_ / "7" / "task");
    Write(proc_ / "7" / "stat", 7, "app", 100);
  }
  void TearDown() override { fs::remove_all(proc_); }
  static void Write(const fs::path& path, int tid, const std::string& name, uint64_t ticks) {
    std::ofstream(path) << tid << " (" << name << ") S 1 1 1 0 -1 0 0 0 0 0 " << ticks
                        << " 0 0 0 20 0 9\n";
  }
  void Thread(int tid, const std::string& name, uint64_t ticks, int64_t schedstat_ns = -1) {
    const fs::path task = proc_ / "7" / "task" / std::to_string(tid);
    fs::create_directories(task);
    Write(task / "stat", tid, name, ticks);
    if (schedstat_ns >= 0) std::ofstream(task / "schedstat") << schedstat_ns << " 0 5\n";
  }

  fs::path proc_;
  profile::GcFacts facts_;
};

TEST_F(GcThreadsTest, CountsWhatTheGcsThreadsUsedSinceTheFirstLook) {
  const int64_t tick = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  Thread(7, "app", 90);
  Thread(8, ".NET Server GC", 10);
  Thread(9, ".NET Server GC", 5, 50'000'123);
  Thread(10, ".NET Tiered Com", 70);
  GcThreads threads(7, proc_.string());
  threads.Read(0, facts_);
  EXPECT_EQ(facts_.server_threads, 2);
  EXPECT_EQ(facts_.server_cpu_ns, 0);
  EXPECT_EQ(facts_.background_threads, 0);
  Thread(8, ".NET Server GC", 30);
  Thread(9, ".NET Server GC", 6, 60'000'124);
  Thread(11, ".NET BGC", 4);  // it began after the first look: all of it counts
  Write(proc_ / "7" / "stat", 7, "app", 160);
  threads.Read(2'000'000'000, facts_);
  EXPECT_EQ(facts_.server_cpu_ns, 20 * tick + 10'000'001);
  EXPECT_EQ(facts_.background_threads, 1);
  EXPECT_EQ(facts_.background_cpu_ns, 4 * tick);
  EXPECT_EQ(facts_.process_cpu_ns, 60 * tick);
  EXPECT_EQ(facts_.cpu_from_ns, 0);
  EXPECT_EQ(facts_.cpu_to_ns, 2'000'000'000);
}

TEST_F(GcThreadsTest, WhatAThreadThatEndedUsedStays) {
  const int64_t tick = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  GcThreads threads(7, proc_.string());
  threads.Read(0, facts_);
  Thread(11, ".NET BGC", 4);
  threads.Read(1, facts_);
  fs::remove_all(proc_ / "7" / "task" / "11");
  threads.Read(2, facts_);
  EXPECT_EQ(facts_.background_cpu_ns, 4 * tick);
  Thread(11, "Worker", 400);  // another thread of its number
  threads.Read(3, facts_);
  EXPECT_EQ(facts_.background_cpu_ns, 4 * tick);
}

TEST_F(GcThreadsTest, AThreadMayBeNamedAfterItWasSeen) {
  const int64_t tick = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  GcThreads threads(7, proc_.string());
  threads.Read(0, facts_);
  Thread(12, "app", 0);
  threads.Read(1, facts_);
  Thread(12, ".NET Server GC", 3);
  threads.Read(2, facts_);
  EXPECT_EQ(facts_.server_threads, 1);
  EXPECT_EQ(facts_.server_cpu_ns, 3 * tick);
}

TEST_F(GcThreadsTest, ARestartCountsAnewAndAnEndedProcessChangesNothing) {
  const int64_t tick = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  Thread(8, ".NET Server GC", 10);
  GcThreads threads(7, proc_.string());
  threads.Read(0, facts_);
  Thread(8, ".NET Server GC", 12);
  threads.Read(1, facts_);
  threads.Restart(0);
  Thread(8, ".NET Server GC", 15);
  threads.Read(5, facts_);
  EXPECT_EQ(facts_.server_cpu_ns, 3 * tick);
  fs::remove_all(proc_ / "7");
  threads.Read(6, facts_);
  EXPECT_EQ(facts_.server_cpu_ns, 3 * tick);
  EXPECT_EQ(facts_.cpu_to_ns, 5);
  profile::GcFacts unread;
  GcThreads(1234567, proc_.string()).Read(0, unread);
  EXPECT_EQ(unread.cpu_to_ns, -1);
}

}  // namespace
}  // namespace clrscope::capture
