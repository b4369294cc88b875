// SPDX-License-Identifier: Apache-2.0
#include "symbols/metadata/metadata.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/utf.h"
#include "symbols/metadata/compressed.h"
#include "symbols/metadata/field_type.h"
#include "symbols/metadata/type_defs.h"
#include "symbols/metadata/type_names.h"
#include "symbols/pe/cli_header.h"
#include "symbols/testing/sample.h"

namespace clrscope::symbols {
namespace {

// The metadata of an assembly of tests/golden/symbols.
class SampleModule {
 public:
  explicit SampleModule(const std::string& name) : file_(ReadSample(name)) {
    const auto image = PeImage::Parse(file_, PeLayout::kFile);
    EXPECT_TRUE(image.ok());
    const auto bytes = MetadataBytes(*image);
    EXPECT_TRUE(bytes.ok());
    bytes_.assign(bytes->begin(), bytes->end());
    auto metadata = Metadata::Parse(bytes_);
    EXPECT_TRUE(metadata.ok());
    metadata_ = metadata.Take();
  }
  const Metadata& metadata() const { return metadata_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  // The TypeDef of that runtime name.
  Token Type(const std::string& name) const {
    for (uint32_t row = 1; row <= metadata_.RowCount(Table::kTypeDef); ++row)
      if (RuntimeTypeName(metadata_, TokenOf(Table::kTypeDef, row)) == name)
        return TokenOf(Table::kTypeDef, row);
    ADD_FAILURE() << name;
    return 0;
  }
  FieldType Field(const std::string& type, std::string_view name) const {
    for (const FieldDef& field : FieldsOf(metadata_, Type(type)))
      if (field.name == name) {
        const auto declared = DecodeFieldType(metadata_, field.signature, Type(type));
        EXPECT_TRUE(declared.ok()) << name;
        return declared.ok() ? *declared : FieldType();
      }
    ADD_FAILURE() << name;
    return {};
  }

 private:
  std::vector<std::byte> file_, bytes_;
  Metadata metadata_;
};

const SampleModule& Sample() {
  static const SampleModule sample("Sample.dll");
  return sample;
}

// Everything that is read of damaged metadata.
void ReadWholeMetadata(Bytes bytes) {
  const auto metadata = Metadata::Parse(bytes);
  if (!metadata.ok()) return;
  for (uint32_t row = 1; row <= std::min(metadata->RowCount(Table::kTypeDef), 100u); ++row) {
    const Token type = TokenOf(Table::kTypeDef, row);
    (void)CsharpNestedName(*metadata, type, {});
    (void)MethodsOf(*metadata, type);
    for (const FieldDef& field : FieldsOf(*metadata, type))
      (void)DecodeFieldType(*metadata, field.signature, type);
  }
  for (uint32_t row = 1; row <= std::min(metadata->RowCount(Table::kMethodDef), 100u); ++row)
    (void)FindMethodDef(*metadata, TokenOf(Table::kMethodDef, row));
}

TEST(Metadata, TellsModuleAndReferences) {
  const Metadata& metadata = Sample().metadata();
  EXPECT_EQ(ModuleFileName(metadata), "Sample.dll");
  EXPECT_NE(ModuleMvid(metadata), Guid{});
  EXPECT_FALSE(metadata.pdb_id());
  ASSERT_TRUE(FindAssembly(metadata));
  EXPECT_EQ(FindAssembly(metadata)->name, "Sample");
  const auto runtime = FindAssemblyRef(metadata, TokenOf(Table::kAssemblyRef, 1));
  ASSERT_TRUE(runtime);
  EXPECT_EQ(runtime->name, "System.Runtime");
  EXPECT_EQ(runtime->major, 10);
  EXPECT_EQ(runtime->public_key.size(), 8u);
  EXPECT_FALSE(FindAssemblyRef(metadata, TokenOf(Table::kAssemblyRef, 99)));
  EXPECT_FALSE(FindAssemblyRef(metadata, TokenOf(Table::kTypeDef, 1)));
}

TEST(Metadata, MethodsKnowTheirTypes) {
  const Metadata& metadata = Sample().metadata();
  const Token service = Sample().Type("Shop.OrderService");
  std::vector<std::string_view> names;
  for (const Token token : MethodsOf(metadata, service)) {
    const auto method = FindMethodDef(metadata, token);
    ASSERT_TRUE(method);
    EXPECT_EQ(method->owner, service) << method->name;
    EXPECT_NE(method->il_rva, 0u);
    names.push_back(method->name);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"LoadAsync", "Names", "Sum", "Caught", "Mapped",
                                                  ".ctor", "<Sum>g__Twice|2_1"}));
  EXPECT_FALSE(FindMethodDef(metadata, service));
  EXPECT_FALSE(FindMethodDef(metadata, TokenOf(Table::kMethodDef, 0)));
}

TEST(Metadata, NamesOfNestedTypesHaveTheirOwners) {
  const Metadata& metadata = Sample().metadata();
  const Token deep = Sample().Type("Shop.Box`1+Slot+Deep`2");
  const std::vector<std::string> slot = {"System.Int32"};
  EXPECT_EQ(CsharpNestedName(metadata, Sample().Type("Shop.Box`1+Slot"), slot),
            "Shop.Box<int>.Slot");
  EXPECT_EQ(CsharpNestedName(metadata, deep, {}), "Shop.Box<T>.Slot.Deep<TKey, TItem>");
  const std::vector<std::string> three = {"System.String", "Shop.Box`1+Slot[System.Int64]",
                                          "System.Byte[]"};
  EXPECT_EQ(CsharpNestedName(metadata, deep, three),
            "Shop.Box<string>.Slot.Deep<Shop.Box<long>.Slot, byte[]>");
  EXPECT_EQ(CsharpNestedName(metadata, Sample().Type("Shop.Box`1+Slot+Kind"), slot),
            "Shop.Box<int>.Slot.Kind");
  EXPECT_EQ(RuntimeTypeName(metadata, TokenOf(Table::kTypeDef, 999)), "");
}

TEST(Metadata, ArityMayBeMissingInAName) {
  const SampleModule fsharp("FsSample.dll");
  const Token closure = fsharp.Type("Shop.Trees+pairs@28");
  EXPECT_EQ(CsharpNestedName(fsharp.metadata(), closure, {}), "Shop.Trees.pairs@28<a, b>");
  EXPECT_EQ(CsharpNestedName(fsharp.metadata(), fsharp.Type("Shop.Trees+Tree`1+Node"), {}),
            "Shop.Trees.Tree<a>.Node");
}

TEST(Metadata, FieldsAreNamedAsTheyAreDeclared) {
  const std::string deep = "Shop.Box`1+Slot+Deep`2";
  const auto name = [&](std::string_view field) { return Sample().Field(deep, field).name; };
  EXPECT_EQ(name("Map"),
            "System.Collections.Generic.Dictionary<TKey, "
            "System.Collections.Generic.List<TItem[]>>");
  EXPECT_EQ(name("Grid"), "T[,]");
  EXPECT_EQ(name("Pair"), "(int, string)");
  EXPECT_EQ(name("Maybe"), "int?");
  EXPECT_EQ(name("Raw"), "void*");
  EXPECT_EQ(name("Call"), "delegate*");
  EXPECT_EQ(name("Enumerator"), "System.Collections.Generic.Dictionary<string, int>.Enumerator");
  EXPECT_EQ(name("Flag"), "int");  // volatile is a modifier
  EXPECT_EQ(Sample().Field("Shop.Box`1", "_slots").name, "Shop.Box<T>.Slot[]");
}

TEST(Metadata, FieldsSayWhetherTheyHoldReferences) {
  const FieldType owner = Sample().Field("Shop.Box`1+Slot", "Owner");
  EXPECT_TRUE(owner.is_reference());
  EXPECT_EQ(owner.type, Sample().Type("Shop.Box`1"));
  EXPECT_FALSE(Sample().Field("Shop.Box`1+Slot", "Value").is_reference());
  EXPECT_FALSE(Sample().Field("Shop.Box`1+Slot+Deep`2", "Maybe").is_reference());
  EXPECT_TRUE(Sample().Field("Shop.Box`1+Slot+Deep`2", "Grid").is_reference());
}

// Metadata of one TypeSpec, of which the signature is given.
std::vector<std::byte> WithTypeSpec(std::initializer_list<uint8_t> signature) {
  std::string tables(6, '\0');
  const auto put = [](std::string& to, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; ++i) to += static_cast<char>(value >> 8 * i & 0xff);
  };
  put(tables, 0, 2);                                           // narrow heaps
  put(tables, 1ull << static_cast<int>(Table::kTypeSpec), 8);  // one table
  put(tables, 0, 8);
  put(tables, 1, 4);
  put(tables, 1, 2);  // its only row: the blob at 1
  std::string blobs(1, '\0');
  put(blobs, signature.size(), 1);
  for (const uint8_t b : signature) put(blobs, b, 1);
  std::string out = "BSJB";
  put(out, 0, 8);
  put(out, 4, 4);  // a version of four bytes
  put(out, 0, 4 + 2);
  put(out, 2, 2);
  const size_t head = out.size() + 12 + 16;
  put(out, head, 4);
  put(out, tables.size(), 4);
  out += std::string("#~\0\0", 4);
  put(out, head + tables.size(), 4);
  put(out, blobs.size(), 4);
  out += std::string("#Blob\0\0\0", 8);
  out += tables + blobs;
  const Bytes bytes = AsBytes(out.data(), out.size());
  return {bytes.begin(), bytes.end()};
}

TEST(Metadata, TypeSpecsThatNameThemselvesEnd) {
  // A generic instance whose two arguments are that instance again: 2^32 types, were they counted.
  const auto bytes = WithTypeSpec({0x15, 0x12, 0x06, 2, 0x12, 0x06, 0x12, 0x06});
  const auto metadata = Metadata::Parse(bytes);
  ASSERT_TRUE(metadata.ok()) << metadata.error().message;
  ASSERT_EQ(metadata->RowCount(Table::kTypeSpec), 1u);
  constexpr std::byte kField[] = {std::byte{0x06}, std::byte{0x12}, std::byte{0x06}};
  EXPECT_EQ(DecodeFieldType(*metadata, kField, 0).error().code, ErrorCode::kCorrupt);
  const auto fine = WithTypeSpec({0x1d, 0x08});
  EXPECT_EQ(DecodeFieldType(*Metadata::Parse(fine), kField, 0)->name, "int[]");
}

TEST(Metadata, UserStringsAreUtf16) {
  const Metadata& metadata = Sample().metadata();
  std::vector<std::string> all;
  for (uint32_t at = 1; at < 200;) {
    const Utf16View text = metadata.UserString(at);
    if (text.data == nullptr) break;
    all.push_back(ToUtf8(text));
    at += 2 + static_cast<uint32_t>(text.units) * 2;  // of short ones
  }
  EXPECT_NE(std::find(all.begin(), all.end(), "zero"), all.end());
}

TEST(Compressed, NumbersOfEverySize) {
  // §II.23.2's own examples.
  const auto read = [](std::initializer_list<int> bytes, bool is_signed) -> int64_t {
    std::vector<std::byte> data;
    for (const int b : bytes) data.push_back(static_cast<std::byte>(b));
    ByteReader in(data);
    const int64_t value = is_signed ? int64_t{ReadCompressedSigned(in)} : ReadCompressed(in);
    return in.ok() && in.remaining() == 0 ? value : -1'000'000'000;
  };
  EXPECT_EQ(read({0x03}, false), 3);
  EXPECT_EQ(read({0x7f}, false), 0x7f);
  EXPECT_EQ(read({0x80, 0x80}, false), 0x80);
  EXPECT_EQ(read({0xae, 0x57}, false), 0x2e57);
  EXPECT_EQ(read({0xc0, 0x00, 0x40, 0x00}, false), 0x4000);
  EXPECT_EQ(read({0xdf, 0xff, 0xff, 0xff}, false), 0x1fffffff);
  EXPECT_EQ(read({0x06}, true), 3);
  EXPECT_EQ(read({0x7b}, true), -3);
  EXPECT_EQ(read({0x80, 0x80}, true), 64);
  EXPECT_EQ(read({0x01}, true), -64);
  EXPECT_EQ(read({0xc0, 0x00, 0x40, 0x00}, true), 8192);
  EXPECT_EQ(read({0x80, 0x01}, true), -8192);
  EXPECT_EQ(read({0xdf, 0xff, 0xff, 0xfe}, true), 268435455);
  EXPECT_EQ(read({0xc0, 0x00, 0x00, 0x01}, true), -268435456);
  EXPECT_EQ(read({0xe0, 0x00, 0x00, 0x01}, false), -1'000'000'000);
  EXPECT_EQ(read({0xc0, 0x00, 0x00}, false), -1'000'000'000);
}

TEST(Metadata, DamagedMetadataAreReadWithinTheirBounds) {
  ReadDamaged(Sample().bytes(), 13, ReadWholeMetadata);
}

}  // namespace
}  // namespace clrscope::symbols
