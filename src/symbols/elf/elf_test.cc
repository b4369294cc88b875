// SPDX-License-Identifier: Apache-2.0
// Against what nm, objcopy and the linker of the machine say of a library that the test compiles.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "symbols/elf/demangle.h"
#include "symbols/elf/elf_file.h"
#include "symbols/elf/symbol_table.h"
#include "symbols/testing/compiled_library.h"
#include "symbols/testing/sample.h"
#include "symbols/unpack.h"

namespace clrscope::symbols {
namespace {

namespace fs = std::filesystem;

SymbolTable TableOf(const ElfFile& file) {
  SymbolTable table;
  table.Add(file);
  table.Finish();
  return table;
}

// Each of our symbols is one of nm's at its address.
void ExpectNamesOf(const std::map<uint64_t, std::set<std::string>>& nm, const SymbolTable& ours) {
  ASSERT_GT(ours.size(), 0u);
  for (size_t i = 0; i < ours.size(); ++i) {
    const ElfSymbol symbol = ours.At(i);
    const auto there = nm.find(symbol.address);
    ASSERT_NE(there, nm.end()) << symbol.name;
    EXPECT_TRUE(there->second.contains(Demangle(symbol.name))) << symbol.name;
    EXPECT_GT(symbol.size, 0u) << symbol.name;
    EXPECT_TRUE(ours.Find(symbol.address + symbol.size - 1)) << symbol.name;
  }
}

std::string NameAt(const SymbolTable& table, uint64_t address) {
  const auto symbol = table.Find(address);
  return symbol ? Demangle(symbol->name) : "";
}

class ElfLibrary : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (HaveTools()) library = std::make_unique<CompiledLibrary>();
  }
  static void TearDownTestSuite() { library.reset(); }
  void SetUp() override {
    if (!library) GTEST_SKIP() << "no c++, objcopy, nm and xz on this machine";
    ASSERT_TRUE(library->made());
  }
  static std::unique_ptr<CompiledLibrary> library;
};
std::unique_ptr<CompiledLibrary> ElfLibrary::library;

TEST_F(ElfLibrary, NamesAreThoseOfNm) {
  const auto bytes = library->Read("whole.so");
  const auto file = ElfFile::Parse(bytes);
  ASSERT_TRUE(file.ok());
  const SymbolTable table = TableOf(*file);
  const auto nm = NmFunctions("-C", library->Path("whole.so"));
  ExpectNamesOf(nm, table);
  std::map<std::string, uint64_t> by_name;
  for (const auto& [address, names] : nm)
    for (const std::string& name : names) by_name[name] = address;
  EXPECT_EQ(NameAt(table, by_name["shop::Hidden(int)"] + 1), "shop::Hidden(int)");
  const std::string get =
      "shop::Box<int>::Get(shop::Box<int>::Slot const&, "
      "shop::Box<int>::Slot const*)";
  EXPECT_EQ(NameAt(table, by_name[get]), get);
  // Of two names the one without underscores; of code without a size all up to the next.
  EXPECT_EQ(NameAt(table, by_name["__plain_alias"]), "plain");
  EXPECT_EQ(NameAt(table, by_name["handmade"] + 1), "handmade");
  EXPECT_EQ(NameAt(table, 0), "");
  EXPECT_EQ(NameAt(table, ~uint64_t{0}), "");
}

TEST_F(ElfLibrary, AStrippedOneHasItsSymbolsInAnotherFile) {
  const auto stripped_bytes = library->Read("stripped.so"), debug = library->Read("whole.debug");
  const auto stripped = ElfFile::Parse(stripped_bytes), separate = ElfFile::Parse(debug);
  ASSERT_TRUE(stripped.ok() && separate.ok());
  const auto link = stripped->debug_link();
  ASSERT_TRUE(link);
  EXPECT_EQ(link->file_name, "whole.debug");
  EXPECT_TRUE(link->Matches(debug));
  EXPECT_FALSE(link->Matches(stripped_bytes));
  EXPECT_EQ(stripped->build_id().size(), 40u);
  EXPECT_EQ(separate->build_id(), stripped->build_id());
  EXPECT_EQ(stripped->UnpackDebugData().error().code, ErrorCode::kNotFound);
  SymbolTable both;
  both.Add(*stripped);
  both.Add(*separate);
  both.Finish();
  const auto whole_bytes = library->Read("whole.so");
  const auto whole = ElfFile::Parse(whole_bytes);
  const SymbolTable expected = TableOf(*whole);
  ASSERT_EQ(both.size(), expected.size());
  for (size_t i = 0; i < both.size(); ++i) {
    EXPECT_EQ(both.At(i).name, expected.At(i).name);
    EXPECT_EQ(both.At(i).size, expected.At(i).size);
  }
  EXPECT_LT(TableOf(*stripped).size(), both.size());
  // What the dynamic symbols do not tell the size of does not reach over those they do not have.
  const SymbolTable dynamic = TableOf(*stripped);
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string name = NameAt(dynamic, expected.At(i).address + expected.At(i).size - 1);
    EXPECT_TRUE(name.empty() || name == Demangle(expected.At(i).name)) << name;
  }
}

TEST_F(ElfLibrary, PackedSymbolsAreUnpacked) {
  const auto bytes = library->Read("packed.so");
  const auto file = ElfFile::Parse(bytes);
  ASSERT_TRUE(file.ok());
  const auto unpacked = file->UnpackDebugData();
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message;
  EXPECT_EQ(AsText(*unpacked), AsText(library->Read("mini")));
  const auto more = ElfFile::Parse(*unpacked);
  ASSERT_TRUE(more.ok());
  ExpectNamesOf(NmFunctions("-C", library->Path("whole.so")), TableOf(*more));
}

TEST_F(ElfLibrary, OffsetsInTheFileBecomeAddresses) {
  const auto bytes = library->Read("whole.so");
  const auto file = ElfFile::Parse(bytes);
  const ElfSection* text = file->Section(".text");
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(file->AddressOfCode(text->offset + 5), text->address + 5);
  EXPECT_EQ(file->AddressOfCode(bytes.size() + 100000), std::nullopt);
}

TEST_F(ElfLibrary, DamagedFilesAreReadWithinTheirBounds) {
  ReadDamaged(library->Read("packed.so"), 41, [](Bytes bytes) {
    const auto file = ElfFile::Parse(bytes);
    if (!file.ok()) return;
    (void)file->debug_link();
    (void)file->build_id();
    (void)file->AddressOfCode(0x1000);
    const SymbolTable table = TableOf(*file);
    for (size_t i = 0; i < table.size(); ++i) (void)table.Find(table.At(i).address + 1);
  });
}

TEST(ElfFile, DynamicSymbolsOfSystemLibrariesAreThoseOfNm) {
  int seen = 0;
  for (const char* path :
       {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
        "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.12/libcoreclr.so",
        "/usr/lib/dotnet/shared/Microsoft.NETCore.App/10.0.12/libcoreclr.so"}) {
    if (!fs::exists(path)) continue;
    const auto nm = NmFunctions("-C -D", path);
    if (nm.empty()) continue;
    ++seen;
    const auto bytes = ReadFileBytes(path);
    const auto file = ElfFile::Parse(bytes);
    ASSERT_TRUE(file.ok()) << path;
    const SymbolTable table = TableOf(*file);
    ExpectNamesOf(nm, table);
    EXPECT_EQ(table.size(), nm.size()) << path;
    EXPECT_EQ(table.left_out(), 0u);
  }
  if (seen == 0) GTEST_SKIP() << "neither nm nor a library to ask it about on this machine";
}

TEST(ElfFile, OtherFilesAreRefused) {
  EXPECT_FALSE(ElfFile::Parse({}).ok());
  const auto assembly = ReadSample("Sample.dll");
  EXPECT_EQ(ElfFile::Parse(assembly).error().code, ErrorCode::kCorrupt);
}

TEST(Demangle, NamesOfCppAlone) {
  EXPECT_EQ(Demangle("_ZN3GCH8AllocateEv"), "GCH::Allocate()");
  EXPECT_EQ(Demangle("_ZSt4swapIiEvRT_S1_.cold"), "void std::swap<int>(int&, int&) [clone .cold]");
  EXPECT_EQ(Demangle("coreclr_initialize"), "coreclr_initialize");
  EXPECT_EQ(Demangle("_Znonsense"), "_Znonsense");
  EXPECT_EQ(Demangle(""), "");
}

TEST(Demangle, AShortNameOfGigabytesStaysAsItIs) {
  // X<int, int>, then X of twice the one before, thirty times.
  std::string name = "_Z1f1XIiiE";
  for (char id = '0'; id < '9'; ++id) name += std::string("S_IS") + id + "_S" + id + "_E";
  for (char id = 'A'; id < 'U'; ++id) name += std::string("S_IS") + id + "_S" + id + "_E";
  EXPECT_EQ(Demangle(name), name);
  // The same, with identifiers that look like the begin of a reference.
  std::string odd = "_Z1f1XIiiE";
  for (char id = '0'; id < '9'; ++id)
    odd += std::string("S_IS") + id + "_1" + static_cast<char>('Z' - (id - '0')) + "S" + id + "_E";
  for (char id = 'A'; id < 'U'; ++id) odd += std::string("2SZIS") + id + "_1SS" + id + "_E";
  EXPECT_EQ(Demangle(odd), odd);
  // By parameters of a template instead.
  std::string parameters = "_Z1fI1XIiiEEv";
  for (int i = 0; i < 300; ++i) parameters += "T_";
  EXPECT_EQ(Demangle(parameters).substr(0, 7), "void f<");
  // Three steps are nothing unusual.
  EXPECT_EQ(Demangle("_Z1f1XIiiES_IS0_S0_E"), "f(X<int, int>, X<X<int, int>, X<int, int> >)");
}

TEST(UnpackXz, DamagedStreamsAreTold) {
  const std::byte bytes[] = {std::byte{0xfd}, std::byte{'7'}, std::byte{'z'}};
  EXPECT_EQ(UnpackXz(bytes).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(UnpackXz({}).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace clrscope::symbols
