// SPDX-License-Identifier: Apache-2.0
#include "symbol_files/file_root.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace clrscope::symbol_files {
namespace {

class FileRootTest : public testing::Test {
 protected:
  FileRootTest() {
    std::string name = (std::filesystem::temp_directory_path() / "clrscope-root-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~FileRootTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(FileRootTest, ReadsWhatAProcessSees) {
  std::ofstream(folder_ / "a") << "text";
  const Result<FileRoot> root = FileRoot::Of(::getpid());
  ASSERT_TRUE(root.ok());
  for (const FileRoot* r : {&*root}) {
    const auto bytes = r->Read((folder_ / "a").string());
    ASSERT_TRUE(bytes.ok()) << bytes.error().message;
    EXPECT_EQ(bytes->size(), 4u);
  }
  EXPECT_EQ(FileRoot::Own().Read((folder_ / "a").string())->size(), 4u);
}

TEST_F(FileRootTest, SaysWhatItDoesNotRead) {
  const Result<FileRoot> root = FileRoot::Of(::getpid());
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->Read((folder_ / "none").string()).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(root->Read("relative").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(root->Read(folder_.string()).error().code, ErrorCode::kRefused);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(root->Read((folder_ / "pipe").string()).error().code, ErrorCode::kRefused);
  std::ofstream(folder_ / "huge") << "x";
  std::filesystem::resize_file(folder_ / "huge", uint64_t{4} << 30);  // sparse
  const auto huge = root->Read((folder_ / "huge").string());
  EXPECT_EQ(huge.error().code, ErrorCode::kRefused);
  EXPECT_NE(huge.error().message.find("4096 MB"), std::string::npos) << huge.error().message;
}

TEST(FileRoot, OfNobody) { EXPECT_EQ(FileRoot::Of(0x7FFFFFF0).error().code, ErrorCode::kNotFound); }

}  // namespace
}  // namespace clrscope::symbol_files
