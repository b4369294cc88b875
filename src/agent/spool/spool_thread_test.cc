// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/spool_thread.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <vector>

#include "agent/testing/agent_on_fake.h"

namespace clrscope::agent {
namespace {

// Never destroyed: a thread that hung in the disk may come back at the program's end.
Stall& g_disk = *new Stall;
std::mutex& g_mutex = *new std::mutex;
std::vector<std::string>& g_written = *new std::vector<std::string>;

size_t CountWritten() {
  const std::lock_guard lock(g_mutex);
  return g_written.size();
}

Status WriteSlowly(const std::string& path, std::string_view) {
  g_disk.Pass();
  if (path == "full") return Error{ErrorCode::kIo, "cannot write full: No space left on device"};
  const std::lock_guard lock(g_mutex);
  g_written.push_back(path);
  return OkStatus();
}

TEST(SpoolThread, WritesInOrder) {
  g_written.clear();
  SpoolThread spool(WriteSlowly);
  for (const char* name : {"a", "b", "c"}) spool.Post(name, "bytes");
  EXPECT_TRUE(spool.Flush(5000));
  EXPECT_EQ(g_written, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(spool.counts().written, 3u);
}

TEST(SpoolThread, AStalledDiskStopsNobodyAndWhatItCannotTakeIsCounted) {
  g_disk.Close();
  const auto begin = std::chrono::steady_clock::now();
  {
    SpoolThread spool(WriteSlowly);
    for (int i = 0; i < 100; ++i) spool.Post("x", std::string(1000, 'x'));
    EXPECT_FALSE(spool.Flush(50));
    EXPECT_EQ(spool.counts().written, 0u);
    EXPECT_GE(spool.counts().dropped, 100 - SpoolThread::kMostFiles - 1);
    EXPECT_NE(spool.counts().error.find("too slow"), std::string::npos);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3))
      << "it is left to it";
  const size_t before = CountWritten();
  g_disk.Open();
  EXPECT_TRUE(Until(10, [&] { return CountWritten() >= before + SpoolThread::kMostFiles; }))
      << "what it had taken is written when it goes on";
}

TEST(SpoolThread, SaysWhyAFileCouldNotBeWrittenUntilOneIs) {
  SpoolThread spool(WriteSlowly);
  spool.Post("full", "x");
  EXPECT_TRUE(spool.Flush(5000));
  EXPECT_EQ(spool.counts().failed, 1u);
  EXPECT_EQ(spool.counts().error, "cannot write full: No space left on device");
  spool.Post("a", "x");
  EXPECT_TRUE(spool.Flush(5000));
  EXPECT_EQ(spool.counts().error, "");
}

}  // namespace
}  // namespace clrscope::agent
