// SPDX-License-Identifier: Apache-2.0
#include "capture/proc/memory_readings.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace clrscope::capture {
namespace {

TEST(MemoryReadings, FollowWhatAProcessTakes) {
  std::vector<profile::MemoryReading> readings;
  ReadMemory(::getpid(), 5, readings);
  constexpr size_t kBytes = 64 << 20;
  void* const taken =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(taken, MAP_FAILED);
  std::memset(taken, 1, kBytes);
  ReadMemory(::getpid(), 6, readings);
  ::munmap(taken, kBytes);
  ASSERT_EQ(readings.size(), 2u);
  EXPECT_EQ(readings[0].at_ns, 5);
  EXPECT_GE(readings[0].threads, 1);
  // The kernel counts in batches of each CPU, larger ones where there are many.
  const int64_t kBatch = int64_t{2 << 20} * std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN) / 16);
  const int64_t grown = readings[1].total() - readings[0].total();
  EXPECT_NEAR(static_cast<double>(grown), kBytes, static_cast<double>(kBatch));
  EXPECT_EQ(readings[1].rss_bytes,
            readings[1].private_bytes + readings[1].file_bytes + readings[1].shared_bytes);
}

TEST(MemoryReadings, AProcessThatIsGoneHasNone) {
  std::vector<profile::MemoryReading> readings;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  ReadMemory(child, 1, readings);  // a zombie
  EXPECT_TRUE(readings.empty());
  ::waitpid(child, nullptr, 0);
  ReadMemory(child, 2, readings);
  EXPECT_TRUE(readings.empty());
}

TEST(MemoryReadings, StayFewWhereNobodyTakesThemOut) {
  std::vector<profile::MemoryReading> readings;
  for (int64_t i = 0; i < 100; ++i) ReadMemory(::getpid(), i, readings);
  EXPECT_LE(readings.size(), 16u);
  EXPECT_EQ(readings.back().at_ns, 99);
}

}  // namespace
}  // namespace clrscope::capture
