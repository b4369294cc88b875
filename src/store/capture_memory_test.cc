// SPDX-License-Identifier: Apache-2.0
// What processes took of memory: round trips, thinning, earlier files, damaged ones.
#include <gtest/gtest.h>

#include <string>

#include "store/capture_reader.h"
#include "store/capture_writer.h"
#include "store/testing/captures.h"

namespace clrscope::store {
namespace {

using profile::MemoryReading;
using testing::TempFile;

MemoryReading At(int64_t second) {
  return {second * kSecond, 100 + second, 60 + second, 30, 10, 7, 9};
}

// Of a recording of so many seconds, with a reading in each.
std::vector<MemoryReading> ReadBack(int64_t seconds, const char* attack, std::string* error) {
  TempFile file;
  profile::Recording recording;
  for (uint32_t pid = 1; pid <= 2; ++pid)
    recording.processes.push_back(testing::MakeProcess(recording.strings, pid, 1));
  {
    auto writer = CaptureWriter::Create(file.str(), &recording);
    EXPECT_TRUE(writer.ok());
    for (int64_t second = 0; second < seconds; ++second) {
      recording.processes[1]->info.memory.push_back(At(second));
      if (second % 7 == 0) {
        EXPECT_TRUE((*writer)->Commit(second * kSecond).ok());
        EXPECT_TRUE(recording.processes[1]->info.memory.empty());
      }
    }
    recording.end_ns = seconds * kSecond;
    EXPECT_TRUE((*writer)->Finish(true).ok());
  }
  {
    auto db = Database::Open(file.str(), Database::Mode::kCreate);
    EXPECT_TRUE(db->Execute(attack).ok()) << attack;
  }
  auto reader = CaptureReader::Open(file.str());
  if (!reader.ok()) {
    *error = reader.error().message;
    return {};
  }
  EXPECT_TRUE((*reader)->recording().processes[0]->info.memory.empty());
  return (*reader)->recording().processes[1]->info.memory;
}

TEST(CaptureMemory, ComesBackAsItWas) {
  std::string error;
  const std::vector<MemoryReading> read = ReadBack(20, "select 1", &error);
  ASSERT_EQ(read.size(), 20u) << error;
  for (int64_t second = 0; second < 20; ++second) {
    const MemoryReading &got = read[static_cast<size_t>(second)], want = At(second);
    EXPECT_EQ(got.at_ns, want.at_ns);
    EXPECT_EQ(got.rss_bytes, want.rss_bytes);
    EXPECT_EQ(got.private_bytes, want.private_bytes);
    EXPECT_EQ(got.file_bytes, want.file_bytes);
    EXPECT_EQ(got.shared_bytes, want.shared_bytes);
    EXPECT_EQ(got.swap_bytes, want.swap_bytes);
    EXPECT_EQ(got.threads, want.threads);
  }
}

TEST(CaptureMemory, OldReadingsGetFewer) {
  std::string error;
  constexpr int64_t kSeconds = 3 * 3600;
  const std::vector<MemoryReading> read = ReadBack(kSeconds, "select 1", &error);
  // One a minute of the first hour, one each 10 s of an hour and 50 minutes, then each second.
  EXPECT_EQ(read.size(), 60u + 110u * 6 + 600u) << error;
  EXPECT_EQ(read.front().at_ns, 0);
  EXPECT_EQ(read.back().at_ns, (kSeconds - 1) * kSecond);
  EXPECT_EQ(read[1].at_ns, 60 * kSecond);
}

TEST(CaptureMemory, EarlierAndDamagedFiles) {
  std::string error;
  EXPECT_TRUE(ReadBack(5, "drop table memory", &error).empty());
  EXPECT_EQ(error, "");
  EXPECT_TRUE(ReadBack(5, "update memory set process=7", &error).empty());
  EXPECT_NE(error, "");
  EXPECT_TRUE(ReadBack(5, "update memory set rss_bytes=-5", &error).empty());
  EXPECT_NE(error, "");
  const std::vector<MemoryReading> wild = ReadBack(
      1, "update memory set rss_bytes=9223372036854775807, swap_bytes=9223372036854775807", &error);
  ASSERT_EQ(wild.size(), 1u);
  EXPECT_GT(wild[0].total(), 0);
}

}  // namespace
}  // namespace clrscope::store
