// SPDX-License-Identifier: Apache-2.0
// Against nm, on a library that the test compiles and on the C library.
#include "symbol_files/native_symbols.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "symbol_files/own_vdso.h"
#include "symbols/testing/compiled_library.h"

namespace clrscope::symbol_files {
namespace {

namespace fs = std::filesystem;

// A library as a loader maps it.
struct Loaded {
  MappedFile mapped;
  uint64_t code_address = 0;  // of the mapping's first byte
};

Loaded LoadedFrom(const std::string& path) {
  const auto bytes = symbols::ReadFileBytes(path);
  const auto file = symbols::ElfFile::Parse(bytes);
  EXPECT_TRUE(file.ok());
  const symbols::ElfSection* text = file->Section(".text");
  Loaded out;
  out.mapped.path = path;
  out.mapped.build_id = file->build_id();
  const auto code = *file->only_code();
  constexpr uint64_t kPage = 4096;
  out.code_address = code.address / kPage * kPage;
  out.mapped.offset = text->offset - (text->address - out.code_address);
  out.mapped.size = (code.address + code.size - out.code_address + kPage - 1) / kPage * kPage;
  return out;
}

class NativeSymbolsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (symbols::HaveTools()) library = std::make_unique<symbols::CompiledLibrary>();
  }
  static void TearDownTestSuite() { library.reset(); }
  void SetUp() override {
    if (!library) GTEST_SKIP() << "no c++, objcopy, nm and xz on this machine";
    ASSERT_TRUE(library->made());
    folder_ = library->Path("other");
    fs::create_directory(folder_);
    for (const auto& [address, names] : symbols::NmFunctions("-C", library->Path("whole.so")))
      if (names.contains("shop::Hidden(int)")) hidden_ = address;
    ASSERT_NE(hidden_, 0u);
  }
  void TearDown() override {
    if (library) fs::remove_all(folder_);
  }

  // A copy under another folder, where nothing else is found.
  std::string Copy(const std::string& name, const std::string& as) {
    const fs::path to = fs::path(folder_) / as;
    fs::create_directories(to.parent_path());
    fs::copy_file(library->Path(name), to, fs::copy_options::overwrite_existing);
    return to;
  }
  static std::string ById(const std::string& id, const std::string& ending) {
    return ".build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ending;
  }
  // The name of the library's hidden function, which only .symtab has.
  std::string HiddenName(NativeSymbols& symbols, const Loaded& loaded,
                         const FileRoot& root = FileRoot::Own()) {
    const auto functions = symbols.Of(root, loaded.mapped);
    if (!functions) return "";
    return functions->NameAt(loaded.mapped.offset + hidden_ + 1 - loaded.code_address,
                             loaded.mapped);
  }
  std::string HiddenName(const Loaded& loaded) {
    NativeSymbols symbols;
    return HiddenName(symbols, loaded);
  }

  static std::unique_ptr<symbols::CompiledLibrary> library;
  std::string folder_;
  uint64_t hidden_ = 0;
  const std::string kHidden = "shop::Hidden(int)";
};
std::unique_ptr<symbols::CompiledLibrary> NativeSymbolsTest::library;

TEST_F(NativeSymbolsTest, InTheFileItself) {
  EXPECT_EQ(HiddenName(LoadedFrom(library->Path("whole.so"))), kHidden);
}

TEST_F(NativeSymbolsTest, PackedIntoIt) {
  EXPECT_EQ(HiddenName(LoadedFrom(Copy("packed.so", "packed.so"))), kHidden);
}

TEST_F(NativeSymbolsTest, InAFileBesideIt) {
  const Loaded loaded = LoadedFrom(Copy("stripped.so", "lib.so"));
  EXPECT_EQ(HiddenName(loaded), "") << "its dynamic symbols lack it";
  Copy("whole.debug", "whole.debug");
  EXPECT_EQ(HiddenName(loaded), kHidden);
  fs::remove(folder_ + "/whole.debug");
  Copy("whole.debug", ".debug/whole.debug");
  EXPECT_EQ(HiddenName(loaded), kHidden);
}

TEST_F(NativeSymbolsTest, AnotherBuildIsNotTaken) {
  Loaded loaded = LoadedFrom(Copy("stripped.so", "lib.so"));
  Copy("whole.debug", "whole.debug");
  loaded.mapped.build_id = std::string(40, '0');
  EXPECT_EQ(HiddenName(loaded), "");
  loaded.mapped.build_id = "";
  EXPECT_EQ(HiddenName(loaded), "") << "nobody knows which build it is";
}

TEST_F(NativeSymbolsTest, WithoutABuildIdTheLinkTells) {
  const std::string path = Copy("stripped.so", "lib.so");
  Copy("whole.debug", "whole.debug");
  ASSERT_TRUE(symbols::Run("cd '" + folder_ +
                           "' && objcopy --remove-section .note.gnu.build-id lib.so && objcopy "
                           "--remove-section .note.gnu.build-id whole.debug && objcopy "
                           "--remove-section .gnu_debuglink lib.so && objcopy "
                           "--add-gnu-debuglink=whole.debug lib.so"));
  Loaded loaded = LoadedFrom(path);
  ASSERT_EQ(loaded.mapped.build_id, "");
  EXPECT_EQ(HiddenName(loaded), "") << "another file may have taken its name";
  loaded.mapped.same_file = true;
  EXPECT_EQ(HiddenName(loaded), kHidden);
  ASSERT_TRUE(symbols::Run("printf x >> '" + folder_ + "/whole.debug'"));
  EXPECT_EQ(HiddenName(loaded), "");
}

TEST_F(NativeSymbolsTest, InFoldersOfTheUsers) {
  const Loaded loaded = LoadedFrom(Copy("stripped.so", "lib.so"));
  const std::string given = folder_ + "/given";
  for (const std::string& place :
       {ById(loaded.mapped.build_id, ".debug"), std::string("lib.so.debug"),
        std::string("lib.so.dbg"), std::string("lib.so"),
        "_.debug/elf-buildid-sym-" + loaded.mapped.build_id + "/_.debug"}) {
    const std::string file = Copy("whole.debug", "given/" + place);
    NativeSymbols symbols({.folders = {folder_ + "/none", given}});
    EXPECT_EQ(HiddenName(symbols, loaded), kHidden) << place;
    fs::remove(file);
  }
  // Of another build.
  ASSERT_TRUE(symbols::Run("cd '" + folder_ +
                           "' && mkdir -p given && echo 'int x(int a) { return a; }' > b.c && cc "
                           "-shared -fPIC -Wl,--build-id b.c -o given/lib.so.debug"));
  NativeSymbols symbols({.folders = {given}});
  EXPECT_EQ(HiddenName(symbols, loaded), "");
}

// As on another machine than the one that was recorded.
TEST_F(NativeSymbolsTest, WithoutTheLibraryItself) {
  Loaded loaded = LoadedFrom(library->Path("whole.so"));
  loaded.mapped.path = "/elsewhere/lib.so";
  const std::string given = folder_ + "/given";
  const std::string separate = Copy("whole.debug", "given/lib.so.dbg");
  {
    NativeSymbols symbols({.folders = {given}});
    EXPECT_EQ(HiddenName(symbols, loaded), kHidden) << "all of its code is mapped in one piece";
  }
  {
    Loaded part = loaded;
    part.mapped.size -= 4096;
    NativeSymbols symbols({.folders = {given}});
    EXPECT_EQ(HiddenName(symbols, part), "") << "where a part of it lay is not known";
  }
  fs::remove(separate);
  Copy("whole.so", "given/" + ById(loaded.mapped.build_id, ""));
  NativeSymbols symbols({.folders = {given}});
  EXPECT_EQ(HiddenName(symbols, loaded), kHidden);
}

TEST_F(NativeSymbolsTest, AsAContainerSeesThem) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, for chroot";
  const Loaded outside = LoadedFrom(Copy("stripped.so", "root/opt/lib.so"));
  Copy("whole.debug", "root/usr/lib/debug/" + ById(outside.mapped.build_id, ".debug"));
  const pid_t child = ::fork();
  if (child == 0) {
    if (::chroot((folder_ + "/root").c_str()) != 0) ::_exit(1);
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(state));
  {
    const auto root = FileRoot::Of(child);
    ASSERT_TRUE(root.ok());
    Loaded inside = outside;
    inside.mapped.path = "/opt/lib.so";
    NativeSymbols symbols;
    EXPECT_EQ(HiddenName(symbols, inside, *root), kHidden);
    EXPECT_EQ(HiddenName(symbols, inside), "") << "here is none of that name";
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(NativeSymbolsTest, WhatIsKeptHasALimit) {
  const Loaded whole = LoadedFrom(library->Path("whole.so")),
               packed = LoadedFrom(Copy("packed.so", "packed.so"));
  NativeSymbols symbols({.most_bytes = 1});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(HiddenName(symbols, whole), kHidden);
    EXPECT_EQ(HiddenName(symbols, packed), kHidden);
  }
  EXPECT_EQ(symbols.counts().files, 6u);
  NativeSymbols enough;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(HiddenName(enough, whole), kHidden);
    EXPECT_EQ(HiddenName(enough, packed), kHidden);
  }
  EXPECT_EQ(enough.counts().files, 2u);
}

TEST_F(NativeSymbolsTest, MostOfALargeFileIsNotRead) {
  const std::string path = Copy("whole.so", "large.so");
  const auto file = FileRoot::Own().Open(path);
  ASSERT_TRUE(file.ok());
  const auto parts = ElfParts::Read(*file);
  ASSERT_TRUE(parts.ok()) << parts.error().message;
  EXPECT_LT(parts->bytes_read(), file->size() / 2) << "debug information is left away";
}

TEST_F(NativeSymbolsTest, DamagedFilesHaveNoNamesOrOthers) {
  Loaded loaded = LoadedFrom(Copy("whole.so", "lib.so"));
  loaded.mapped.build_id = "";
  loaded.mapped.same_file = true;
  const auto bytes = symbols::ReadFileBytes(library->Path("packed.so"));
  symbols::ReadDamaged(bytes, 997, [&](Bytes damaged) {
    const auto parts = ElfParts::Copy(damaged);
    if (!parts.ok()) return;
    (void)parts->elf().debug_link();
    symbols::SymbolTable table;
    table.Add(parts->elf());
    table.Finish();
  });
}

TEST(NativeSymbols, OtherFilesHaveNone) {
  NativeSymbols symbols;
  MappedFile mapped;
  mapped.same_file = true;
  mapped.size = 4096;
  for (const char* path : {"/etc/passwd", "/nowhere/at/all", "/proc/self/maps", "[heap]", "",
                           "relative", "/usr (deleted)"}) {
    mapped.path = path;
    EXPECT_EQ(symbols.Of(FileRoot::Own(), mapped), nullptr) << path;
  }
}

TEST(NativeSymbols, OfTheKernelsCodeInEveryProcess) {
  const auto vdso = OwnVdso();
  if (!vdso) GTEST_SKIP() << "this kernel maps none";
  NativeSymbols symbols;
  MappedFile mapped;
  mapped.path = kVdsoName;
  const auto functions = symbols.Of(FileRoot::Own(), mapped);
  ASSERT_NE(functions, nullptr);
  std::set<std::string> names;
  for (uint64_t at = 0; at < 8192; ++at) names.insert(functions->NameAt(at, mapped));
  EXPECT_TRUE(names.contains("clock_gettime") || names.contains("__vdso_clock_gettime"));
}

// The functions of the C library, whose symbols are a package of their own (libc6-dbg).
TEST(NativeSymbols, OfTheCLibraryAreThoseOfNm) {
  const std::string path = "/usr/lib/x86_64-linux-gnu/libc.so.6";
  if (!symbols::HaveTools() || !fs::exists(path)) GTEST_SKIP() << "no nm, or no such library";
  const Loaded loaded = LoadedFrom(path);
  const std::string& id = loaded.mapped.build_id;
  const std::string separate =
      "/usr/lib/debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
  if (!fs::exists(separate)) GTEST_SKIP() << "no " << separate;
  const auto nm = symbols::NmFunctions("-C", separate);
  ASSERT_GT(nm.size(), 2000u);
  NativeSymbols symbols;
  const auto functions = symbols.Of(FileRoot::Own(), loaded.mapped);
  ASSERT_NE(functions, nullptr);
  size_t named = 0;
  for (const auto& [address, names] : nm) {
    const std::string name =
        functions->NameAt(loaded.mapped.offset + address - loaded.code_address, loaded.mapped);
    if (name.empty()) continue;  // data, or a label within a function
    ++named;
    bool found = false;
    for (const std::string& n : names) found = found || n.substr(0, n.find('@')) == name;
    // A label within a function is no name of its own.
    if (!found) {
      const auto before = nm.upper_bound(address);
      bool within = false;
      for (auto it = before; it != nm.begin() && !within;) {
        --it;
        for (const std::string& n : it->second) within = within || n.substr(0, n.find('@')) == name;
        if (address - it->first > 64 << 10) break;
      }
      EXPECT_TRUE(within) << std::hex << address << " " << name << " or " << *names.begin();
    }
  }
  EXPECT_GT(named, 2000u);
}

}  // namespace
}  // namespace clrscope::symbol_files
