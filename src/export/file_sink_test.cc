// SPDX-License-Identifier: Apache-2.0
// A whole file or none.
#include "export/file_sink.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "export/testing/scratch_dir.h"

namespace clrscope::exporter {
namespace {

namespace fs = std::filesystem;
using testing::ReadAll;
using testing::ScratchDir;
using testing::WriteAll;

long Entries(const ScratchDir& dir) {
  return std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator());
}

TEST(FileSinkTest, TheFileAppearsWholeOnFinish) {
  ScratchDir dir;
  auto sink = FileSink::Create(dir / "out");
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE((*sink)->Write(std::string(1'000'000, 'x')).ok());
  EXPECT_FALSE(fs::exists(dir / "out"));
  ASSERT_TRUE((*sink)->Finish().ok());
  ASSERT_TRUE((*sink)->Finish().ok()) << "a second Finish does nothing";
  EXPECT_EQ(fs::file_size(dir / "out"), 1'000'000u);
  EXPECT_EQ(Entries(dir), 1);
}

TEST(FileSinkTest, WithoutFinishNothingIsLeftAndTheOldFileStays) {
  ScratchDir dir;
  WriteAll(dir / "out", "old");
  {
    auto sink = FileSink::Create(dir / "out");
    ASSERT_TRUE((*sink)->Write("new").ok());
  }
  EXPECT_EQ(ReadAll(dir / "out"), "old");
  EXPECT_EQ(Entries(dir), 1);
}

TEST(FileSinkTest, AnExistingFileIsReplacedOnlyWhenAllowed) {
  ScratchDir dir;
  WriteAll(dir / "out", "old");
  auto refused = FileSink::Create(dir / "out", IfExists::kRefuse);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
  EXPECT_NE(refused.error().message.find(dir / "out"), std::string::npos);
  auto sink = FileSink::Create(dir / "out", IfExists::kReplace);
  ASSERT_TRUE((*sink)->Write("new").ok());
  ASSERT_TRUE((*sink)->Finish().ok());
  EXPECT_EQ(ReadAll(dir / "out"), "new");
}

TEST(FileSinkTest, AFileThatAppearsMeanwhileIsNotReplacedEither) {
  ScratchDir dir;
  auto sink = FileSink::Create(dir / "out", IfExists::kRefuse);
  ASSERT_TRUE((*sink)->Write("new").ok());
  WriteAll(dir / "out", "other");
  EXPECT_EQ((*sink)->Finish().error().code, ErrorCode::kUsage);
  EXPECT_EQ(ReadAll(dir / "out"), "other");
  EXPECT_EQ(Entries(dir), 1);
}

TEST(FileSinkTest, ASymbolicLinkStaysALink) {
  ScratchDir dir;
  WriteAll(dir / "real", "old");
  fs::create_symlink(dir / "real", dir / "link");
  auto sink = FileSink::Create(dir / "link");
  ASSERT_TRUE((*sink)->Write("new").ok());
  ASSERT_TRUE((*sink)->Finish().ok());
  EXPECT_TRUE(fs::is_symlink(dir / "link"));
  EXPECT_EQ(ReadAll(dir / "real"), "new");
}

TEST(FileSinkTest, ADeviceIsWrittenNotReplaced) {
  auto sink = FileSink::Create("/dev/null");
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE((*sink)->Write("x").ok());
  ASSERT_TRUE((*sink)->Finish().ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(FileSinkTest, AFullDiskIsNamedWithPathAndReasonAndSticks) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto sink = FileSink::Create("/dev/full");
  ASSERT_TRUE((*sink)->Write("x").ok());
  const Status status = (*sink)->Finish();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_EQ(status.error().message, "cannot write /dev/full: No space left on device");
  EXPECT_FALSE((*sink)->Write("y").ok());
  EXPECT_FALSE((*sink)->Finish().ok());
}

TEST(FileSinkTest, AMissingDirectoryIsNotFound) {
  ScratchDir dir;
  auto sink = FileSink::Create(dir / "no/such/out");
  ASSERT_FALSE(sink.ok());
  EXPECT_EQ(sink.error().code, ErrorCode::kNotFound);
}

TEST(FileSinkTest, NewFilesHaveTheUsualPermissions) {
  ScratchDir dir;
  const mode_t mask = ::umask(022);
  auto sink = FileSink::Create(dir / "out");
  ASSERT_TRUE((*sink)->Finish().ok());
  ::umask(mask);
  struct stat info {};
  ASSERT_EQ(::stat((dir / "out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0644u);
}

}  // namespace
}  // namespace clrscope::exporter
