// SPDX-License-Identifier: Apache-2.0
#include "symbols/pdb/portable_pdb.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "symbols/metadata/type_defs.h"
#include "symbols/pe/cli_header.h"
#include "symbols/testing/sample.h"

namespace clrscope::symbols {
namespace {

const PortablePdb& SamplePdb() {
  static const std::vector<std::byte> bytes = ReadSample("Sample.pdb");
  static const PortablePdb pdb = [] {
    auto parsed = PortablePdb::Parse(bytes);
    EXPECT_TRUE(parsed.ok()) << parsed.error().message;
    return parsed.ok() ? parsed.Take() : PortablePdb();
  }();
  return pdb;
}

// The method of that name in the sample's assembly.
Token SampleMethod(std::string_view name) {
  static const std::vector<std::byte> file = ReadSample("Sample.dll");
  const auto image = PeImage::Parse(file, PeLayout::kFile);
  const auto metadata = Metadata::Parse(*MetadataBytes(*image));
  for (uint32_t row = 1; row <= metadata->RowCount(Table::kMethodDef); ++row)
    if (FindMethodDef(*metadata, TokenOf(Table::kMethodDef, row))->name == name)
      return TokenOf(Table::kMethodDef, row);
  ADD_FAILURE() << name;
  return 0;
}

void ReadWholePdb(Bytes bytes) {
  const auto pdb = PortablePdb::Parse(bytes);
  if (!pdb.ok()) return;
  (void)pdb->source_link();
  for (uint32_t row = 1; row <= std::min(pdb->document_count(), 20u); ++row) {
    (void)pdb->Document(row);
    (void)pdb->EmbeddedSource(row);
  }
  for (uint32_t row = 1; row <= 40; ++row) {
    (void)pdb->SequencePointsOf(TokenOf(Table::kMethodDef, row));
    (void)pdb->KickoffOf(TokenOf(Table::kMethodDef, row));
  }
}

TEST(PortablePdb, BelongsToOneBuildOfItsModule) {
  const auto file = ReadSample("Sample.dll");
  const auto image = PeImage::Parse(file, PeLayout::kFile);
  const auto debug = ReadDebugDirectory(*image);
  ASSERT_TRUE(debug.ok());
  CodeView module = *debug->ManagedPdb();
  EXPECT_TRUE(SamplePdb().CheckMatches(module).ok());
  ++module.id.stamp;  // the same project built again
  EXPECT_EQ(SamplePdb().CheckMatches(module).error().code, ErrorCode::kNotFound);
}

TEST(PortablePdb, OtherFormatsAreTold) {
  std::string windows = "Microsoft C/C++ MSF 7.00\r\n\x1a";
  windows.resize(4096);
  const auto pdb = PortablePdb::Parse(AsBytes(windows.data(), windows.size()));
  ASSERT_FALSE(pdb.ok());
  EXPECT_EQ(pdb.error().code, ErrorCode::kRefused);
  EXPECT_NE(pdb.error().message.find("Windows PDB"), std::string::npos);

  const auto file = ReadSample("Sample.dll");
  const auto image = PeImage::Parse(file, PeLayout::kFile);
  EXPECT_EQ(PortablePdb::Parse(*MetadataBytes(*image)).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(PortablePdb::Parse({}).error().code, ErrorCode::kCorrupt);
}

TEST(PortablePdb, DocumentsAreTheCompilersPaths) {
  const PortablePdb& pdb = SamplePdb();
  ASSERT_EQ(pdb.document_count(), 3u);
  const auto service = pdb.Document(2);
  ASSERT_TRUE(service.ok());
  EXPECT_EQ(service->name, "/_/shop/Service.cs");
  EXPECT_EQ(service->language, SourceLanguage::kCsharp);
  EXPECT_EQ(service->hash_algorithm, SourceHash::kSha256);
  EXPECT_EQ(service->hash.size(), 32u);
  EXPECT_EQ(pdb.Document(3)->name, "/_/shop/Generated/Template.razor");
  EXPECT_EQ(pdb.Document(4).error().code, ErrorCode::kNotFound);
}

TEST(PortablePdb, TextsAreTheSourceFiles) {
  const PortablePdb& pdb = SamplePdb();
  const auto service = pdb.EmbeddedSource(2);  // deflated
  ASSERT_TRUE(service.ok()) << service.error().message;
  EXPECT_EQ(AsText(*service), AsText(ReadSample("Service.cs")));
  const auto page = pdb.EmbeddedSource(3);  // too short for that
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(AsText(*page), "@* the order page *@\n");
  EXPECT_EQ(pdb.EmbeddedSource(4).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(pdb.source_link(), R"({"documents":{"/_/shop/*":"https://example.org/shop/*"}})"
                               "\n");
}

TEST(PortablePdb, PointsKeepHiddenOnesAndChangesOfDocument) {
  const auto points = SamplePdb().SequencePointsOf(SampleMethod("Mapped"));
  ASSERT_TRUE(points.ok());
  ASSERT_EQ(points->size(), 5u);
  EXPECT_TRUE((*points)[0].hidden());
  EXPECT_EQ((*points)[1], (SequencePoint{0x14, 2, 55, 55, 25, 39}));
  EXPECT_EQ((*points)[2], (SequencePoint{0x1a, 3, 7, 7, 25, 51}));  // #line
  EXPECT_TRUE((*points)[3].hidden());                               // #line hidden
  EXPECT_EQ((*points)[4].document, 2u);
  // A statement of several lines.
  const auto put = SamplePdb().SequencePointsOf(SampleMethod("Put"));
  ASSERT_EQ(put->size(), 1u);
  EXPECT_EQ((*put)[0], (SequencePoint{0, 1, 32, 36, 9, 10}));
  EXPECT_TRUE(SamplePdb().SequencePointsOf(TokenOf(Table::kMethodDef, 9999))->empty());
  EXPECT_TRUE(SamplePdb().SequencePointsOf(TokenOf(Table::kTypeDef, 1))->empty());
}

TEST(PortablePdb, StateMachinesKnowTheirMethods) {
  uint32_t count = 0;
  for (uint32_t row = 1; row < 60; ++row) {
    const Token kickoff = SamplePdb().KickoffOf(TokenOf(Table::kMethodDef, row));
    if (kickoff == 0) continue;
    ++count;
    EXPECT_TRUE(kickoff == SampleMethod("LoadAsync") || kickoff == SampleMethod("Names"));
  }
  EXPECT_EQ(count, 2u);
}

TEST(SequencePoints, DamagedBlobsAreTold) {
  const auto decode = [](std::initializer_list<uint8_t> bytes) {
    std::vector<std::byte> blob;
    for (const uint8_t b : bytes) blob.push_back(std::byte{b});
    return DecodeSequencePoints(blob, 1);
  };
  EXPECT_TRUE(decode({})->empty());
  // Locals 0; IL 0, one line, column +1, line 5, column 3.
  const auto one = decode({0, 0, 1, 2, 5, 3});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->at(0), (SequencePoint{0, 1, 5, 6, 3, 4}));
  EXPECT_EQ(decode({0, 0, 1, 2, 5}).error().code, ErrorCode::kCorrupt);  // ends in a point
  // The second goes to line -1.
  EXPECT_EQ(decode({0, 0, 1, 2, 5, 3, 1, 0, 1, 0x75, 0}).error().code, ErrorCode::kCorrupt);
}

TEST(PortablePdb, DamagedFilesAreReadWithinTheirBounds) {
  ReadDamaged(ReadSample("Sample.pdb"), 23, ReadWholePdb);
}

}  // namespace
}  // namespace clrscope::symbols
