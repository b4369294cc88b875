// SPDX-License-Identifier: Apache-2.0
#include "symbol_files/module_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "symbols/testing/bundle_builder.h"

namespace clrscope::symbol_files {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const Result<ModuleFile>& file) {
  if (!file.ok()) return file.error().message;
  const auto bytes = file->Read();
  return bytes.ok() ? std::string(AsText(*bytes)) : bytes.error().message;
}

class ModuleFilesTest : public testing::Test {
 protected:
  ModuleFilesTest() {
    std::string name = (fs::temp_directory_path() / "clrscope-modules-XXXXXX").string();
    folder_ = fs::canonical(::mkdtemp(name.data()));
  }
  ~ModuleFilesTest() override {
    End();
    fs::remove_all(folder_);
  }

  std::string Path(const char* name) const { return (folder_ / name).string(); }

  // Runs `sleep` with a bundle behind it, as a single-file program runs.
  void RunBundle(symbols::BundleBuilder& builder) {
    const auto bytes = builder.Build();
    std::ofstream(folder_ / "shop", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    Run(Path("shop"));
  }
  void Run(const std::string& program) {
    fs::permissions(program, fs::perms::owner_all);
    int ready[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::execl(program.c_str(), "sleep", "1000", nullptr);
      ::_exit(1);
    }
    ::close(ready[1]);
    char byte;
    EXPECT_EQ(::read(ready[0], &byte, 1), 0) << "closed when the program runs";
    ::close(ready[0]);
  }
  void End() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  static std::string Host() {
    std::ifstream in("/bin/sleep", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
  pid_t pid_ = 0;
};

TEST_F(ModuleFilesTest, FilesOnDisk) {
  std::ofstream(folder_ / "a.dll") << "text";
  const auto files = ModuleFiles::Of(::getpid());
  ASSERT_TRUE(files.ok()) << files.error().message;
  const auto file = files->Find(Path("a.dll"));
  EXPECT_EQ(TextOf(file), "text");
  EXPECT_FALSE(file->bundled());
  EXPECT_EQ(file->id(), ModuleFiles::Own().Find(Path("a.dll"))->id());
  EXPECT_EQ(files->Find(Path("b.dll")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files->Find("b.dll").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files->Find("").error().code, ErrorCode::kNotFound);
}

TEST_F(ModuleFilesTest, PartsOfFilesAtTheirPlaces) {
  std::ofstream(folder_ / "a.dll") << "some text";
  const auto file = ModuleFiles::Own().Find(Path("a.dll"));
  auto parts = file->Parts();
  ASSERT_TRUE(parts.ok()) << parts.error().message;
  EXPECT_EQ(AsText(parts->bytes()), std::string(9, '\0'));
  ASSERT_TRUE(parts->Fill(parts->bytes().subspan(5, 3)).ok());
  EXPECT_EQ(AsText(parts->bytes()), std::string("\0\0\0\0\0tex\0", 9));
  fs::resize_file(folder_ / "a.dll", 2);
  ASSERT_TRUE(parts->Fill(parts->bytes()).ok());
  EXPECT_EQ(AsText(parts->bytes()).substr(0, 2), "so");
  std::ofstream(folder_ / "empty.dll").flush();
  EXPECT_TRUE(ModuleFiles::Own().Find(Path("empty.dll"))->Parts()->bytes().empty());
}

TEST_F(ModuleFilesTest, AFileThatIsWrittenAnewIsAnother) {
  std::ofstream(folder_ / "a.dll") << "text";
  const ModuleFiles files = ModuleFiles::Own();
  const auto before = files.Find(Path("a.dll"));
  fs::remove(folder_ / "a.dll");
  std::ofstream(folder_ / "a.dll") << "TEXT";
  EXPECT_NE(files.Find(Path("a.dll"))->id(), before->id());
  EXPECT_EQ(TextOf(before), "text");
}

TEST_F(ModuleFilesTest, FilesOfASingleFileProgram) {
  symbols::BundleBuilder builder(6, Host());
  builder.Add("shop.dll", "the program").AddDeflated("de/text.dll", std::string(9999, 'x'));
  RunBundle(builder);
  std::ofstream(folder_ / "beside.dll") << "beside it";
  const auto files = ModuleFiles::Of(pid_);
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(TextOf(files->Find(Path("shop.dll"))), "the program");
  EXPECT_TRUE(files->Find(Path("shop.dll"))->bundled());
  EXPECT_EQ(TextOf(files->Find(Path("de/text.dll"))), std::string(9999, 'x'));
  EXPECT_EQ(TextOf(files->Find(Path("beside.dll"))), "beside it");
  auto parts = files->Find(Path("shop.dll"))->Parts();
  ASSERT_TRUE(parts.ok());
  ASSERT_TRUE(parts->Fill(parts->bytes().last(7)).ok());
  EXPECT_EQ(AsText(parts->bytes()).substr(4), "program");
  EXPECT_EQ(files->Find(Path("de/text.dll"))->Parts().error().code, ErrorCode::kRefused);
  EXPECT_NE(files->Find(Path("shop.dll"))->id(), files->Find(Path("de/text.dll"))->id());
  EXPECT_EQ(files->Find(Path("other.dll")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files->Find("/shop.dll").error().code, ErrorCode::kNotFound);
}

TEST_F(ModuleFilesTest, WhatIsFoundOutlivesTheProcessAndItsFile) {
  symbols::BundleBuilder builder(1, Host());
  builder.Add("shop.dll", "the program");
  RunBundle(builder);
  const auto files = ModuleFiles::Of(pid_);
  ASSERT_TRUE(files.ok());
  fs::remove(folder_ / "shop");
  std::ofstream(folder_ / "a.dll") << "text";
  End();
  EXPECT_EQ(TextOf(files->Find(Path("shop.dll"))), "the program");
  EXPECT_EQ(TextOf(files->Find(Path("a.dll"))), "text");
}

TEST_F(ModuleFilesTest, ADamagedBundleHasNoFiles) {
  symbols::BundleBuilder builder(9, Host());  // a version that nobody knows
  builder.Add("shop.dll", "the program");
  RunBundle(builder);
  const auto files = ModuleFiles::Of(pid_);
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files->Find(Path("shop.dll")).error().code, ErrorCode::kNotFound);
}

TEST(ModuleFiles, OfNobody) {
  EXPECT_EQ(ModuleFiles::Of(0x7FFFFFF0).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace clrscope::symbol_files
