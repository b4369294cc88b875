// SPDX-License-Identifier: Apache-2.0
// Names of the image in memory, and that the runtime's own metadata stay as they are.
#include "agent/stacks/module_metadata.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "agent/stacks/module_image.h"
#include "agent/stacks/names.h"
#include "agent/testing/fake_runtime.h"
#include "symbols/metadata/type_defs.h"
#include "symbols/metadata/type_names.h"
#include "symbols/pe/cli_header.h"
#include "symbols/testing/sample.h"

namespace clrscope::agent {
namespace {

using symbols::PeImage;
using symbols::PeLayout;
using symbols::Table;
using symbols::Token;
using symbols::TokenOf;

constexpr ModuleId kInMemory = 7;
constexpr uint32_t kOnDisk = 1;

// As the runtime lays an image out whose code is precompiled: sections at their RVAs, nothing
// between them, the pages before and behind it not there.
class MappedImage {
 public:
  explicit MappedImage(const std::vector<std::byte>& file) {
    const auto image = PeImage::Parse(file, PeLayout::kFile);
    if (!image) return;
    size_ = (image->image_size() + 2 * kPage) & ~(kPage - 1);
    at_ = static_cast<std::byte*>(
              ::mmap(nullptr, size_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) +
          kPage;
    Put(0, Bytes(file).first(512));
    for (const symbols::PeSection& s : image->sections())
      Put(s.rva, Bytes(file).subspan(s.file_offset, s.file_size));
  }
  ~MappedImage() { ::munmap(at_ - kPage, size_ + 2 * kPage); }
  MappedImage(const MappedImage&) = delete;
  MappedImage& operator=(const MappedImage&) = delete;

  std::byte* data() { return at_; }
  const uint8_t* base() const { return reinterpret_cast<const uint8_t*>(at_); }
  void Unmap(size_t rva) { ::mprotect(at_ + (rva & ~(kPage - 1)), kPage, PROT_NONE); }

 private:
  static constexpr size_t kPage = 4096;
  void Put(size_t rva, Bytes bytes) {
    ::mprotect(at_ + (rva & ~(kPage - 1)), (rva & (kPage - 1)) + bytes.size(),
               PROT_READ | PROT_WRITE);
    std::memcpy(at_ + rva, bytes.data(), bytes.size());
  }
  std::byte* at_ = nullptr;
  size_t size_ = 0;
};

class ModuleMetadataTest : public ::testing::Test {
 protected:
  const std::vector<std::byte> file_ = symbols::ReadSample("Sample.dll");
  const PeImage image_ = PeImage::Parse(file_, PeLayout::kFile).Take();
  const symbols::Metadata truth_ =
      symbols::Metadata::Parse(symbols::MetadataBytes(image_).Take()).Take();
  FakeRuntime runtime_;
  LookupGate gate_;
  Heartbeat heartbeat_;
  Lookup lookup_{&runtime_, gate_, heartbeat_};

  const uint8_t* flat() const { return reinterpret_cast<const uint8_t*>(file_.data()); }
  ModuleMetadata OfFile() {
    runtime_.AddModule(kInMemory, kModuleFlat, file_);
    return {lookup_, kInMemory};
  }
  void ExpectAllNames(ModuleMetadata& metadata) {
    for (uint32_t row = 1; row <= truth_.RowCount(Table::kTypeDef); ++row)
      EXPECT_EQ(metadata.TypeName(TokenOf(Table::kTypeDef, row)),
                symbols::RuntimeTypeName(truth_, TokenOf(Table::kTypeDef, row)));
    for (uint32_t row = 1; row <= truth_.RowCount(Table::kMethodDef); ++row) {
      const Token token = TokenOf(Table::kMethodDef, row);
      const auto method = metadata.FindMethod(token);
      ASSERT_TRUE(method);
      EXPECT_EQ(method->name, symbols::FindMethodDef(truth_, token)->name);
      EXPECT_EQ(method->owner, symbols::FindMethodDef(truth_, token)->owner);
    }
    EXPECT_EQ(metadata.FindScope()->name, "Sample.dll");
    EXPECT_EQ(metadata.FindScope()->mvid, symbols::ModuleMvid(truth_));
  }
};

TEST_F(ModuleMetadataTest, NamesOfAFlatImageAreReadInPlace) {
  ModuleMetadata metadata = OfFile();
  ExpectAllNames(metadata);
  EXPECT_EQ(runtime_.metadata_opened(), 0u);
}

TEST_F(ModuleMetadataTest, NamesOfAMappedImageAreReadInPlace) {
  const MappedImage mapped(file_);
  ModuleMetadata metadata(lookup_, kInMemory, mapped.base(), kOnDisk);
  ExpectAllNames(metadata);
  EXPECT_EQ(runtime_.metadata_opened(), 0u);
}

TEST_F(ModuleMetadataTest, ReferencesFieldsAndBases) {
  ModuleMetadata metadata = OfFile();
  bool a_struct = false, a_class = false, a_nested = false;
  for (uint32_t row = 1; row <= truth_.RowCount(Table::kTypeDef); ++row) {
    const Token token = TokenOf(Table::kTypeDef, row);
    const auto type = symbols::FindTypeDef(truth_, token);
    const bool is_struct = symbols::RuntimeTypeName(truth_, type->extends) == "System.ValueType";
    EXPECT_EQ(metadata.IsValueType(token), is_struct) << type->name;
    (is_struct ? a_struct : a_class) = true;
    if (type->owner == 0) continue;
    a_nested = true;
    EXPECT_EQ(metadata.OwnName(token), type->name) << "without its owner";
  }
  EXPECT_TRUE(a_struct && a_class && a_nested);
  ASSERT_NE(truth_.RowCount(Table::kTypeRef), 0u);
  for (uint32_t row = 1; row <= truth_.RowCount(Table::kTypeRef); ++row) {
    const auto type = symbols::FindTypeRef(truth_, TokenOf(Table::kTypeRef, row));
    const std::string name = metadata.OwnName(TokenOf(Table::kTypeRef, row));
    EXPECT_EQ(name, type->type_namespace.empty()
                        ? std::string(type->name)
                        : std::string(type->type_namespace) + "." + std::string(type->name));
  }
  for (uint32_t row = 1; row <= truth_.RowCount(Table::kField); ++row)
    EXPECT_EQ(metadata.FieldName(TokenOf(Table::kField, row)),
              truth_.StringAt(Table::kField, row, symbols::column::kFieldName));
  ASSERT_NE(truth_.RowCount(Table::kTypeSpec), 0u);
  EXPECT_FALSE(metadata.TypeSpec(TokenOf(Table::kTypeSpec, 1)).empty());
  EXPECT_EQ(metadata.OwnName(TokenOf(Table::kTypeSpec, 1)), "");
  EXPECT_EQ(metadata.TypeName(0), "");
  EXPECT_EQ(metadata.TypeName(0xff000001), "");
  EXPECT_FALSE(metadata.FindMethod(TokenOf(Table::kTypeDef, 2)));
  EXPECT_EQ(runtime_.metadata_opened(), 0u);
}

// Hot reload and profilers that write code add rows to what the runtime has, and that alone.
TEST_F(ModuleMetadataTest, WhatTheImageLacksIsTheRuntimes) {
  ModuleMetadata metadata = OfFile();
  const uint32_t added = truth_.RowCount(Table::kMethodDef) + 1;
  const auto method = metadata.FindMethod(TokenOf(Table::kMethodDef, added));
  ASSERT_TRUE(method);
  EXPECT_EQ(method->name, "M" + std::to_string(added));
  const uint32_t type = truth_.RowCount(Table::kTypeDef) + 1;
  EXPECT_EQ(metadata.TypeName(TokenOf(Table::kTypeDef, type)), "T" + std::to_string(type));
  EXPECT_EQ(runtime_.metadata_opened(), 1u);
}

TEST_F(ModuleMetadataTest, AModuleWithoutAnImageIsTheRuntimes) {
  const uint64_t before = ModuleMetadata::opened_by_runtime();
  runtime_.AddModule(1, kModuleDynamic);
  EXPECT_EQ(ModuleMetadata(lookup_, 1).TypeName(TokenOf(Table::kTypeDef, 3)), "T3");
  EXPECT_EQ(ModuleMetadata::opened_by_runtime(), before) << "it is read/write from its beginning";
  runtime_.AddModule(2, kOnDisk);
  EXPECT_EQ(ModuleMetadata(lookup_, 2).TypeName(TokenOf(Table::kTypeDef, 3)), "T3");
  EXPECT_EQ(ModuleMetadata::opened_by_runtime(), before + 1) << "it is changed for good";
  EXPECT_EQ(runtime_.metadata_opened(), 2u);
}

// While it is there, or never: the module may be going at that moment.
TEST_F(ModuleMetadataTest, TheRuntimesMetadataAreGivenBackBeforeTheModuleGoes) {
  runtime_.AddModule(1, kModuleDynamic);
  const auto read = [&](bool goes) {
    ASSERT_TRUE(lookup_.Begin(gate_.epoch()));
    ModuleMetadata metadata(lookup_, 1);
    EXPECT_EQ(metadata.TypeName(TokenOf(Table::kTypeDef, 3)), "T3");
    if (goes) gate_.Close();
  };
  read(false);
  EXPECT_EQ(runtime_.metadata_released(), 1u);
  read(true);
  EXPECT_EQ(runtime_.metadata_released(), 1u);
}

// What could not be asked is not counted as opened.
TEST_F(ModuleMetadataTest, AModuleThatGoesMeanwhileIsNotOpened) {
  const uint64_t before = ModuleMetadata::opened_by_runtime();
  ASSERT_TRUE(lookup_.Begin(gate_.epoch()));
  gate_.Close();
  ModuleMetadata metadata(lookup_, kInMemory, flat(), kModuleFlat | kModuleCollectible);
  EXPECT_FALSE(metadata.FindScope());
  EXPECT_EQ(metadata.TypeName(TokenOf(Table::kTypeDef, 3)), "");
  EXPECT_EQ(runtime_.metadata_opened(), 0u);
  EXPECT_EQ(ModuleMetadata::opened_by_runtime(), before);
}

TEST_F(ModuleMetadataTest, OfNoModuleNothingIsKnown) {
  ModuleMetadata none;
  EXPECT_FALSE(none.FindScope());
  EXPECT_FALSE(none.FindMethod(TokenOf(Table::kMethodDef, 1)));
  EXPECT_EQ(none.TypeName(TokenOf(Table::kTypeDef, 2)), "");
}

TEST_F(ModuleMetadataTest, NamesKnowTypesAndMethodsWithoutTheRuntimesMetadata) {
  Names names(lookup_);
  runtime_.AddModule(kInMemory, kModuleFlat, file_);
  const uint32_t rows = truth_.RowCount(Table::kMethodDef);
  ASSERT_GT(rows, 2u);
  for (FunctionId f = 1; f <= rows; ++f) runtime_.AddMethod(f, kInMemory, false, 0x1000 * f, 16);
  for (FunctionId f = 1; f <= rows; ++f) {
    ASSERT_TRUE(lookup_.Begin(gate_.epoch()));
    const Token token = TokenOf(Table::kMethodDef, static_cast<uint32_t>(f));
    const profile::IntervalMethod& m = names.methods()[names.MethodOf(f).id];
    EXPECT_EQ(m.token, token);
    EXPECT_EQ(m.mvid, GuidKey(symbols::ModuleMvid(truth_)));
    const auto method = symbols::FindMethodDef(truth_, token);
    const std::string begin =
        symbols::RuntimeTypeName(truth_, method->owner) + "." + std::string(method->name) + "(";
    EXPECT_TRUE(m.raw.starts_with(begin)) << m.raw << " and " << begin;
  }
  EXPECT_EQ(names.unnamed_methods(), 0u);
  EXPECT_EQ(runtime_.metadata_opened(), 0u);
}

// Whatever lies at the base, no page that is missing is touched.
TEST_F(ModuleMetadataTest, WhatIsNotThereIsNoImage) {
  const OwnReader memory = OwnReader::OfThisProcess();
  EXPECT_TRUE(MetadataInPlace(flat(), PeLayout::kFile, memory));
  MappedImage mapped(file_);
  EXPECT_FALSE(MetadataInPlace(mapped.base() - 4096, PeLayout::kMapped, memory));
  EXPECT_FALSE(MetadataInPlace(mapped.base() + 16, PeLayout::kMapped, memory));
  EXPECT_TRUE(MetadataInPlace(mapped.base(), PeLayout::kMapped, memory));
  // A protector that wipes the headers of what it has loaded.
  const std::vector<std::byte> zeros(512);
  MappedImage wiped(file_);
  std::memcpy(wiped.data(), zeros.data(), zeros.size());
  EXPECT_FALSE(MetadataInPlace(wiped.base(), PeLayout::kMapped, memory));
  // The page of the CLI header, and that of the metadata's end.
  const symbols::CliHeader header = symbols::ReadCliHeader(image_).Take();
  for (const size_t rva : {size_t{image_.directory(PeImage::kCliHeader).rva},
                           size_t{header.metadata.rva} + header.metadata.size - 1}) {
    MappedImage holed(file_);
    holed.Unmap(rva);
    EXPECT_FALSE(MetadataInPlace(holed.base(), PeLayout::kMapped, memory)) << rva;
  }
}

TEST_F(ModuleMetadataTest, DamagedImagesAreReadOrRefused) {
  const OwnReader memory = OwnReader::OfThisProcess();
  MappedImage mapped(file_);
  const auto read = [&](const symbols::Metadata& metadata) {
    for (uint32_t row = 1; row <= std::min(metadata.RowCount(Table::kTypeDef), 8u); ++row)
      (void)symbols::RuntimeTypeName(metadata, TokenOf(Table::kTypeDef, row));
  };
  // Headers, each byte of them; the CLI header.
  const size_t cli = image_.directory(PeImage::kCliHeader).rva;
  size_t refused = 0;
  for (const auto& [from, to] : {std::pair<size_t, size_t>{0, 512}, {cli, cli + 72}})
    for (size_t at = from; at < to; ++at) {
      const std::byte good = mapped.data()[at];
      for (const std::byte bad : {std::byte{0}, std::byte{0x7f}, std::byte{0xff}}) {
        mapped.data()[at] = bad;
        if (const auto m = MetadataInPlace(mapped.base(), PeLayout::kMapped, memory))
          read(*m);
        else
          ++refused;
      }
      mapped.data()[at] = good;
    }
  EXPECT_NE(refused, 0u);
}

}  // namespace
}  // namespace clrscope::agent
