// SPDX-License-Identifier: Apache-2.0
#include "symbol_files/type_owners.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "base/testing/source_dir.h"
#include "symbols/testing/sample.h"

namespace clrscope::symbol_files {
namespace {

namespace fs = std::filesystem;
using symbols::Table;
using symbols::TokenOf;

const std::string kSamples = SourceDir() + "/tests/golden/symbols/";

class TypeOwnersTest : public testing::Test {
 protected:
  TypeOwnersTest() {
    std::string name = (fs::temp_directory_path() / "clrscope-owners-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~TypeOwnersTest() override { fs::remove_all(folder_); }

  std::string OfName(const char* raw) { return Text(owners_.OfName(*clr::BareNameOf(raw))); }
  static std::string Text(const std::optional<std::string>& owner) {
    return !owner ? "unknown" : owner->empty() ? "none" : *owner;
  }
  // The token of a type of Sample.dll.
  symbols::Token TypeOf(const char* name, size_t parameters) {
    const auto file = ModuleFiles::Own().Find(kSamples + "Sample.dll");
    const auto types = cache_->Of(*file);
    const auto found = types->types.Find(name, parameters);
    EXPECT_EQ(found.size(), 1u) << name;
    return found.empty() ? 0 : found[0];
  }
  std::string Mvid() {
    const auto types = cache_->Of(*ModuleFiles::Own().Find(kSamples + "Sample.dll"));
    std::string hex;
    for (const std::byte b : AsBytes(&types->pdbs.at(0), 16)) {
      char text[3];
      std::snprintf(text, sizeof(text), "%02x", static_cast<unsigned>(b));
      hex += text;
    }
    return hex;
  }

  fs::path folder_;
  std::shared_ptr<ModuleTypesCache> cache_ = std::make_shared<ModuleTypesCache>();
  TypeOwners owners_{ModuleFiles::Own(), cache_};
};

TEST_F(TypeOwnersTest, ByNameAndNumberOfArguments) {
  owners_.Add({1, kSamples + "Sample.dll", ""});
  owners_.Add({2, "Anonymously Hosted DynamicMethods Assembly", ""});
  EXPECT_EQ(OfName("Slot[System.Int32][]"), "Shop.Box`1+");
  EXPECT_EQ(OfName("Deep`2[System.Int32,System.String,System.Byte]"), "Shop.Box`1+Slot+");
  EXPECT_EQ(OfName("Deep`2[System.Int32,System.String]"), "unknown");
  EXPECT_EQ(OfName("Slot"), "unknown") << "of another module, which was not told";
  EXPECT_EQ(OfName("<Module>"), "none");
}

TEST_F(TypeOwnersTest, ByToken) {
  owners_.Add({7, kSamples + "Sample.dll", Mvid()});
  const symbols::Token slot = TypeOf("Slot", 1);
  const auto of = [&](uint64_t module, symbols::Token token, const char* raw) {
    return Text(owners_.Of(module, token, *clr::BareNameOf(raw)));
  };
  EXPECT_EQ(of(7, slot, "Slot[System.Int32]"), "Shop.Box`1+");
  EXPECT_EQ(of(7, slot, "Other[System.Int32]"), "unknown") << "the token is of another type";
  EXPECT_EQ(of(7, TokenOf(Table::kTypeDef, 9999), "Slot"), "unknown");
  EXPECT_EQ(of(8, slot, "Slot[System.Int32]"), "unknown");
}

TEST_F(TypeOwnersTest, WhatSeveralTypesMayMeanIsNotGuessed) {
  owners_.Add({1, kSamples + "Sample.dll", ""});
  fs::copy(kSamples + "Sample.dll", folder_ / "Sample.dll");
  owners_.Add({2, (folder_ / "Sample.dll").string(), ""});
  EXPECT_EQ(OfName("Slot[System.Int32]"), "Shop.Box`1+") << "twice the same";
  // Another build, whose Box has another name of the same length.
  auto bytes = symbols::ReadSample("Sample.dll");
  const size_t box = AsText(bytes).find(std::string_view("Box`1\0", 6));
  ASSERT_NE(box, std::string_view::npos);
  bytes[box] = std::byte{'C'};
  std::ofstream(folder_ / "Other.dll", std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  owners_.Add({3, (folder_ / "Other.dll").string(), ""});
  EXPECT_EQ(OfName("Slot[System.Int32]"), "unknown");
}

TEST_F(TypeOwnersTest, AModuleWithoutAFileMayHaveATypeOfAnyName) {
  owners_.Add({1, kSamples + "Sample.dll", ""});
  owners_.Add({2, "Made", ""});
  EXPECT_EQ(OfName("Slot[System.Int32]"), "unknown");
  EXPECT_EQ(Text(owners_.Of(1, TypeOf("Slot", 1), {"Slot", 1})), "Shop.Box`1+");
}

TEST_F(TypeOwnersTest, AFileOfAnotherBuildIsNotTheModules) {
  owners_.Add({1, kSamples + "Sample.dll", std::string(32, 'a')});
  EXPECT_EQ(OfName("Slot[System.Int32]"), "unknown");
  owners_.Add({1, kSamples + "Sample.dll", Mvid()});
  EXPECT_EQ(OfName("Slot[System.Int32]"), "Shop.Box`1+");
}

TEST_F(TypeOwnersTest, WhatIsNoAssemblyIsNotKnown) {
  std::ofstream(folder_ / "a.dll") << "MZ";
  for (const char* path : {"/none.dll", "/proc/self/maps", ""}) {
    owners_.Add({1, path, ""});
    EXPECT_EQ(OfName("Slot[System.Int32]"), "unknown") << path;
  }
  owners_.Add({1, (folder_ / "a.dll").string(), ""});
  EXPECT_EQ(OfName("Slot[System.Int32]"), "unknown");
}

TEST_F(TypeOwnersTest, AFileIsReadOnceForAllProcesses) {
  owners_.Add({1, kSamples + "Sample.dll", ""});
  EXPECT_EQ(OfName("Slot[System.Int32]"), "Shop.Box`1+");
  const auto file = ModuleFiles::Own().Find(kSamples + "Sample.dll");
  EXPECT_TRUE(cache_->Knows(file->id()));
  EXPECT_EQ(cache_->Of(*file), cache_->Of(*file));
  EXPECT_GT(owners_.memory_bytes(), 0u);
}

}  // namespace
}  // namespace clrscope::symbol_files
