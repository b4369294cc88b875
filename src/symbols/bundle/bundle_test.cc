// SPDX-License-Identifier: Apache-2.0
#include "symbols/bundle/bundle.h"

#include <gtest/gtest.h>

#include "symbols/testing/bundle_builder.h"
#include "symbols/testing/sample.h"

namespace clrscope::symbols {
namespace {

std::string TextOf(const Result<std::vector<std::byte>>& bytes) {
  return bytes.ok() ? std::string(AsText(*bytes)) : bytes.error().message;
}

std::vector<std::byte> StoredIn(Bytes executable, const BundledFile& file) {
  const Bytes stored = executable.subspan(file.offset, file.stored_size());
  return {stored.begin(), stored.end()};
}

// Everything that is read of an executable.
void ReadWholeBundle(Bytes executable) {
  const auto header = FindBundleHeader(executable);
  if (!header || *header > executable.size()) return;
  const auto bundle = ReadBundleManifest(executable.subspan(*header), executable.size());
  if (!bundle.ok()) return;
  for (const BundledFile& file : bundle->files)
    (void)UnpackBundled(file, StoredIn(executable, file));
}

TEST(Bundle, FilesOfEachVersion) {
  const std::string folder(200, 'f');  // a name whose length takes two bytes
  for (const uint32_t major : {1u, 2u, 6u}) {
    BundleBuilder builder(major);
    builder.Add("shop.dll", "an assembly").Add(folder + "/x.pdb", "", BundledType::kSymbols);
    const auto executable = builder.Build();
    ASSERT_EQ(FindBundleHeader(executable), builder.header());
    const auto manifest = Bytes(executable).subspan(builder.header());
    const auto bundle = ReadBundleManifest(manifest, executable.size());
    ASSERT_TRUE(bundle.ok()) << major << ": " << bundle.error().message;
    EXPECT_EQ(bundle->major, major);
    EXPECT_EQ(bundle->id, "F_oc4f3heP_Ghqb");
    ASSERT_EQ(bundle->files.size(), 2u);
    const BundledFile* shop = bundle->Find("shop.dll");
    ASSERT_NE(shop, nullptr);
    EXPECT_EQ(shop->type, BundledType::kAssembly);
    EXPECT_EQ(TextOf(UnpackBundled(*shop, StoredIn(executable, *shop))), "an assembly");
    EXPECT_EQ(bundle->files[1].type, BundledType::kSymbols);
    EXPECT_EQ(bundle->Find("hop.dll"), nullptr);
  }
}

TEST(Bundle, CompressedFilesAreUnpackedToWhatTheManifestSays) {
  const std::string text(50'000, 'x');
  BundleBuilder builder;
  builder.AddDeflated("shop.dll", text);
  const auto executable = builder.Build();
  const auto bundle =
      ReadBundleManifest(Bytes(executable).subspan(builder.header()), executable.size());
  ASSERT_TRUE(bundle.ok());
  BundledFile file = bundle->files[0];
  EXPECT_LT(file.stored_size(), 1000u);
  EXPECT_EQ(TextOf(UnpackBundled(file, StoredIn(executable, file))), text);
  ++file.size;  // a manifest that lies
  EXPECT_EQ(UnpackBundled(file, StoredIn(executable, file)).error().code, ErrorCode::kCorrupt);
  file.size = uint64_t{1} << 40;
  EXPECT_EQ(UnpackBundled(file, StoredIn(executable, file)).error().code, ErrorCode::kFailed);
}

TEST(Bundle, AHostAloneHasNothing) {
  BundleBuilder builder;
  auto executable = builder.Build();
  const size_t marker = AsText(executable).find('\x8b') - 8;
  std::fill_n(executable.begin() + static_cast<ptrdiff_t>(marker), 8, std::byte{0});
  EXPECT_EQ(FindBundleHeader(executable), 0u);
  // A marker that is cut is none.
  const Bytes all(executable);
  EXPECT_EQ(FindBundleHeader(all.subspan(marker + 1)), std::nullopt);
  EXPECT_EQ(FindBundleHeader(all.first(marker + kBundleMarkerSize - 1)), std::nullopt);
  EXPECT_EQ(FindBundleHeader(all.subspan(marker, kBundleMarkerSize)), 0u);
}

TEST(Bundle, ManifestsThatCannotBeAreRefused) {
  BundleBuilder builder;
  builder.Add("a.dll", "text");
  const auto executable = builder.Build();
  std::vector<std::byte> manifest(executable.begin() + static_cast<ptrdiff_t>(builder.header()),
                                  executable.end());
  EXPECT_EQ(ReadBundleManifest(manifest, 100).error().code, ErrorCode::kCorrupt);
  auto newer = manifest;
  newer[0] = std::byte{7};
  EXPECT_EQ(ReadBundleManifest(newer, executable.size()).error().code, ErrorCode::kCorrupt);
  auto many = manifest;
  many[11] = std::byte{0x7f};  // two thousand million files
  EXPECT_EQ(ReadBundleManifest(many, executable.size()).error().code, ErrorCode::kTruncated);
}

TEST(Bundle, DamageEndsNothing) {
  BundleBuilder builder;
  builder.Add("a.dll", "text").AddDeflated("b.dll", std::string(300, 'b'));
  ReadDamaged(builder.Build(), 1, ReadWholeBundle);
}

}  // namespace
}  // namespace clrscope::symbols
