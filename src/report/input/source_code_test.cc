// SPDX-License-Identifier: Apache-2.0
#include "report/input/source_code.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace clrscope::report {
namespace {

class LookForSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("clrscope-source-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "given/shop");
    Write("given/shop/Load.cs", "one\r\ntwo\n");
    Write("outside.cs", "secret\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const char* name, const char* text) { std::ofstream(folder_ / name) << text; }

  SourceSearch Look(const std::string& path, const std::string& hash, const std::string& text,
                    bool own_path) {
    profile::Profile p;
    p.source_files.push_back(
        {p.strings.Intern(path), p.strings.Intern(hash), {}, p.strings.Intern(text)});
    return LookForSource(p, 1, {(folder_ / "given").string()}, own_path);
  }

  std::filesystem::path folder_;
};

TEST_F(LookForSourceTest, TakesThePdbsOwnText) {
  const SourceSearch search = Look("/nowhere/Load.cs", "", "\xEF\xBB\xBFint a;\n", false);
  ASSERT_TRUE(search.found);
  EXPECT_EQ(search.found->lines, std::vector<std::string>{"int a;"});
  EXPECT_TRUE(search.found->checked);
}

TEST_F(LookForSourceTest, FindsAsMuchOfThePathAsThereIs) {
  for (const char* path : {"/build/shop/Load.cs", "C:\\src\\shop\\Load.cs", "shop/Load.cs"}) {
    const SourceSearch search = Look(path, "", "", false);
    ASSERT_TRUE(search.found) << path;
    EXPECT_EQ(search.found->lines, (std::vector<std::string>{"one", "two"}));
    EXPECT_FALSE(search.found->checked);
  }
}

TEST_F(LookForSourceTest, AnotherVersionIsNotTheText) {
  const SourceSearch search = Look("/src/shop/Load.cs", "sha256:00", "", false);
  EXPECT_FALSE(search.found);
  EXPECT_TRUE(search.another.ends_with("given/shop/Load.cs")) << search.another;
}

// A PDB may name any file, and a page is passed on.
TEST_F(LookForSourceTest, StaysWithinTheFoldersThatWereNamed) {
  const std::string outside = (folder_ / "outside.cs").string();
  EXPECT_FALSE(Look(outside, "", "", false).found);
  EXPECT_TRUE(Look(outside, "", "", true).found);
  EXPECT_FALSE(Look("/../outside.cs", "", "", false).found);
  EXPECT_FALSE(Look("shop/../../outside.cs", "", "", false).found);
  EXPECT_TRUE(Look("/a/../shop/Load.cs", "", "", false).found) << "what follows is within";
}

}  // namespace
}  // namespace clrscope::report
