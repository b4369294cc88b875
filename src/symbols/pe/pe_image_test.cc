// SPDX-License-Identifier: Apache-2.0
#include "symbols/pe/pe_image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "symbols/pe/cli_header.h"
#include "symbols/pe/debug_directory.h"
#include "symbols/r2r/r2r_header.h"
#include "symbols/testing/sample.h"

namespace clrscope::symbols {
namespace {

// As a loader places a file: headers and sections at their RVAs.
std::vector<std::byte> Mapped(const std::vector<std::byte>& file) {
  const auto image = PeImage::Parse(file, PeLayout::kFile);
  EXPECT_TRUE(image.ok());
  std::vector<std::byte> out(image->image_size());
  std::copy_n(file.begin(), std::min(file.size(), size_t{0x200}), out.begin());
  for (const PeSection& s : image->sections())
    std::memcpy(out.data() + s.rva, file.data() + s.file_offset,
                std::min(s.file_size, s.virtual_size));
  return out;
}

// Everything that is read of an image.
void ReadWholeImage(Bytes bytes) {
  for (const PeLayout layout : {PeLayout::kFile, PeLayout::kMapped}) {
    const auto image = PeImage::Parse(bytes, layout);
    if (!image.ok()) continue;
    (void)MetadataBytes(*image);
    if (const auto debug = ReadDebugDirectory(*image); debug.ok())
      (void)UnpackEmbeddedPdb(debug->embedded);
    if (const auto r2r = ReadR2rHeader(*image); r2r.ok()) (void)ReadR2rComponents(*image, *r2r);
  }
}

TEST(PeImage, HeadersOfAnAssembly) {
  const auto bytes = ReadSample("Sample.dll");
  const auto image = PeImage::Parse(bytes, PeLayout::kFile);
  ASSERT_TRUE(image.ok()) << image.error().message;
  EXPECT_EQ(image->machine(), 0x14c);  // what a compiler writes where any will do
  EXPECT_EQ(image->system(), PeSystem::kAny);
  EXPECT_FALSE(image->is_64_bit());
  ASSERT_EQ(image->sections().size(), 3u);
  EXPECT_EQ(image->sections()[0].name, ".text");
  const auto cli = ReadCliHeader(*image);
  ASSERT_TRUE(cli.ok());
  EXPECT_EQ(cli->flags & 1, 1u);
  EXPECT_EQ(cli->managed_native_header.size, 0u);
  EXPECT_EQ(ReadR2rHeader(*image).error().code, ErrorCode::kNotFound);
}

TEST(PeImage, MetadataIsTheSameInBothLayouts) {
  const auto file = ReadSample("Sample.dll");
  const auto mapped = Mapped(file);
  const auto in_file = PeImage::Parse(file, PeLayout::kFile);
  const auto in_memory = PeImage::Parse(mapped, PeLayout::kMapped);
  ASSERT_TRUE(in_file.ok() && in_memory.ok());
  const auto a = MetadataBytes(*in_file), b = MetadataBytes(*in_memory);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(AsText(a->first(4)), "BSJB");
  EXPECT_EQ(AsText(*a), AsText(*b));
  const auto debug = ReadDebugDirectory(*in_memory);
  ASSERT_TRUE(debug.ok());
  EXPECT_EQ(debug->code_views.size(), 1u);
}

TEST(PeImage, NothingLiesOutsideOfItsSections) {
  const auto bytes = ReadSample("Sample.dll");
  const auto image = PeImage::Parse(bytes, PeLayout::kFile);
  ASSERT_TRUE(image.ok());
  EXPECT_TRUE(image->FromRva(0xfffffff0).empty());
  EXPECT_FALSE(image->AtRva({image->sections()[0].rva, 0xffffffff}).ok());
  EXPECT_TRUE(image->AtFileOffset(0xfffffff0, 0x20).empty());
}

TEST(PeImage, OtherFilesAreRefused) {
  const std::string text = "MZ is how this begins, but it is a text and no more, as you can see.";
  EXPECT_FALSE(PeImage::Parse(AsBytes(text.data(), text.size()), PeLayout::kFile).ok());
  EXPECT_FALSE(PeImage::Parse({}, PeLayout::kMapped).ok());
}

TEST(DebugDirectory, TellsWhichPdbIsTheAssemblys) {
  const auto bytes = ReadSample("Sample.dll");
  const auto image = PeImage::Parse(bytes, PeLayout::kFile);
  ASSERT_TRUE(image.ok());
  const auto debug = ReadDebugDirectory(*image);
  ASSERT_TRUE(debug.ok());
  const CodeView* view = debug->ManagedPdb();
  ASSERT_NE(view, nullptr);
  EXPECT_TRUE(view->portable);
  EXPECT_EQ(view->age, 1u);
  EXPECT_TRUE(view->path.ends_with("Sample.pdb")) << view->path;
  ASSERT_EQ(debug->checksums.size(), 1u);
  EXPECT_EQ(debug->checksums[0].algorithm, "SHA256");
  EXPECT_EQ(debug->checksums[0].value.size(), 32u);
  EXPECT_TRUE(debug->reproducible);
  EXPECT_EQ(UnpackEmbeddedPdb(debug->embedded).error().code, ErrorCode::kNotFound);
}

TEST(DebugDirectory, UnpacksAnEmbeddedPdb) {
  const auto bytes = ReadSample("SampleEmbedded.dll");
  const auto image = PeImage::Parse(bytes, PeLayout::kFile);
  ASSERT_TRUE(image.ok());
  auto debug = ReadDebugDirectory(*image);
  ASSERT_TRUE(debug.ok());
  const auto pdb = UnpackEmbeddedPdb(debug->embedded);
  ASSERT_TRUE(pdb.ok()) << pdb.error().message;
  EXPECT_EQ(pdb->size(), debug->embedded.size);
  EXPECT_EQ(AsText(Bytes(*pdb).first(4)), "BSJB");
  debug->embedded.size -= 1;
  EXPECT_EQ(UnpackEmbeddedPdb(debug->embedded).error().code, ErrorCode::kCorrupt);
}

TEST(DebugDirectory, APromiseOfGigabytesTakesNoMemory) {
  const std::byte little[100] = {};
  EXPECT_EQ(UnpackEmbeddedPdb({little, 0xffffffff}).error().code, ErrorCode::kFailed);
  EXPECT_EQ(UnpackEmbeddedPdb({little, 200 << 20}).error().code, ErrorCode::kCorrupt);
}

TEST(PeImage, DamagedFilesAreReadWithinTheirBounds) {
  ReadDamaged(ReadSample("Sample.dll"), 37, ReadWholeImage);
  ReadDamaged(ReadSample("SampleEmbedded.dll"), 61, ReadWholeImage);
}

}  // namespace
}  // namespace clrscope::symbols
