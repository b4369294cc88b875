// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "symbols/lines/line_lookup.h"
#include "symbols/metadata/type_defs.h"
#include "symbols/pdb/portable_pdb.h"
#include "symbols/pe/cli_header.h"
#include "symbols/r2r/debug_bounds.h"
#include "symbols/r2r/native_array.h"
#include "symbols/r2r/r2r_code.h"
#include "symbols/testing/sample.h"

namespace clrscope::symbols {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> BytesOf(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

uint32_t NativeNumber(std::initializer_list<int> values) {
  const auto bytes = BytesOf(values);
  ByteReader in(bytes);
  const uint32_t value = ReadNativeUnsigned(in);
  return in.ok() && in.remaining() == 0 ? value : ~0u;
}

TEST(NativeArray, NumbersOfEverySize) {
  EXPECT_EQ(NativeNumber({0x7f << 1}), 0x7fu);
  EXPECT_EQ(NativeNumber({0x01, 0x02}), 0x80u);
  EXPECT_EQ(NativeNumber({0xfd, 0xff}), 0x3fffu);
  EXPECT_EQ(NativeNumber({0x03, 0x00, 0x02}), 0x4000u);
  EXPECT_EQ(NativeNumber({0x07, 0x00, 0x00, 0x02}), 0x200000u);
  EXPECT_EQ(NativeNumber({0x0f, 0x78, 0x56, 0x34, 0x12}), 0x12345678u);
  EXPECT_EQ(NativeNumber({0x1f, 0, 0, 0, 0}), ~0u);
  EXPECT_EQ(NativeNumber({0x03, 0x00}), ~0u);
}

TEST(NativeArray, FindsTheOnlyIndexOfABlock) {
  // Three elements with offsets of a byte; the block's tree begins one byte after that offset, and
  // is a leaf for index 0, behind which lies what belongs to it.
  const auto section = BytesOf({3 << 3, 1, 0, 0x55});
  const NativeArray array(section);
  EXPECT_EQ(array.size(), 3u);
  EXPECT_EQ(array.Find(0), 3u);
  EXPECT_EQ(array.Find(1), std::nullopt);
  EXPECT_EQ(array.Find(3), std::nullopt);
  EXPECT_EQ(NativeArray(Bytes()).size(), 0u);
}

// The debug information of one method, as DecodeDebugBounds() finds it.
Result<std::vector<IlMapEntry>> Bounds(std::initializer_list<int> section, uint16_t major) {
  return DecodeDebugBounds(BytesOf(section), 0, major);
}

TEST(DebugBounds, NibblesBeforeVersion16) {
  // No lookback; 4 bytes of bounds, none of variables; two entries.
  const auto bounds = Bounds({0, 0x04, 0x02, 0x01, 0x5a, 0x00}, 10);
  ASSERT_TRUE(bounds.ok()) << bounds.error().message;
  EXPECT_EQ(*bounds, (std::vector<IlMapEntry>{{0, -2}, {21, -3}}));
}

TEST(DebugBounds, UnknownVersionsAreRefused) {
  for (const uint16_t major : std::initializer_list<uint16_t>{0, 8, 18, 0xffff})
    EXPECT_EQ(Bounds({0, 0x04, 0x02, 0x01, 0x5a, 0x00}, major).error().code, ErrorCode::kRefused);
}

TEST(DebugBounds, BitsFromVersion16OnAndALongHeaderFrom17On) {
  // One entry of 4 bits of native delta and 3 of IL: native 9, IL 4, source 1.
  // 16: 2 + 4 + 3 bits = 1 | 9 << 2 | 7 << 6 = 0x1e5.
  const auto v16 = Bounds({0, 0x04, 0x31, 0x02, 0xe5, 0x01}, 16);
  ASSERT_TRUE(v16.ok()) << v16.error().message;
  EXPECT_EQ(*v16, (std::vector<IlMapEntry>{{9, 4}}));
  // 17: 3 + 4 + 3 bits = 1 | 9 << 3 | 7 << 7 = 0x3c9, after six sizes.
  const auto v17 = Bounds({0, 0x40, 0x00, 0x00, 0x00, 0x31, 0x02, 0xc9, 0x03}, 17);
  ASSERT_TRUE(v17.ok()) << v17.error().message;
  EXPECT_EQ(*v17, (std::vector<IlMapEntry>{{9, 4}}));
}

TEST(DebugBounds, DamagedOnesAreTold) {
  EXPECT_FALSE(Bounds({}, 10).ok());
  EXPECT_FALSE(Bounds({4, 0, 0}, 10).ok());                             // looks back too far
  EXPECT_FALSE(Bounds({0, 0x04, 0x02}, 10).ok());                       // ends in its bounds
  EXPECT_FALSE(Bounds({0, 0x04, 0xff, 0xff, 0xff, 0x7f}, 10).ok());     // very many entries
  EXPECT_FALSE(Bounds({0, 0x04, 0xff, 0xff, 0x7f, 0x11, 0}, 16).ok());  // the same
}

// A precompiled assembly of tests/golden/symbols with its PDB.
struct Precompiled {
  std::vector<std::byte> file, pdb_file;
  PeImage image;
  R2rCode code;
  Metadata metadata;
  PortablePdb pdb;

  explicit Precompiled(const std::string& name)
      : file(ReadSample(name + ".dll")), pdb_file(ReadSample(name + ".pdb")) {
    image = PeImage::Parse(file, PeLayout::kFile).Take();
    code = R2rCode::Read(image).Take();
    metadata = Metadata::Parse(*MetadataBytes(image)).Take();
    pdb = PortablePdb::Parse(pdb_file).Take();
  }
  uint32_t Row(std::string_view method) const {
    for (uint32_t row = 1; row <= metadata.RowCount(Table::kMethodDef); ++row)
      if (FindMethodDef(metadata, TokenOf(Table::kMethodDef, row))->name == method) return row;
    return 0;
  }
  // The lines of all code of a method.
  std::set<uint32_t> Lines(std::string_view method) const {
    std::set<uint32_t> out;
    const uint32_t row = Row(method);
    const auto function = code.entry_points().FunctionOf(row);
    if (!function) return out;
    const auto map = code.MapOf(*function);
    const auto points = pdb.SequencePointsOf(TokenOf(Table::kMethodDef, row));
    if (!map.ok() || !points.ok()) return out;
    for (const IlMapEntry& entry : map->entries())
      if (const auto* point =
              PointOfCode(*map, *points, entry.native_offset, AddressKind::kInstruction))
        out.insert(point->start_line);
    return out;
  }
};

class R2rSample : public ::testing::TestWithParam<const char*> {};

TEST_P(R2rSample, KnowsTheLinesOfPrecompiledCode) {
  const Precompiled sample(GetParam());
  EXPECT_EQ(sample.image.machine(), PeImage::kAmd64);
  EXPECT_EQ(sample.image.system(), PeSystem::kLinux);
  // try, catch and finally. The filter, whose exception stays on the IL stack, has no entry.
  EXPECT_EQ(sample.Lines("Caught"), (std::set<uint32_t>{39, 43, 47}));
  EXPECT_EQ(sample.Lines("Sum"), (std::set<uint32_t>{25, 26, 27}));
  EXPECT_EQ(sample.Lines("<Sum>g__Twice|2_1"), (std::set<uint32_t>{31}));
  EXPECT_EQ(sample.Lines("Mapped"), (std::set<uint32_t>{7, 55, 61})) << "7 is of a template";
  const auto async = sample.Lines("MoveNext");  // LoadAsync's
  for (const uint32_t line : {11u, 12u, 14u, 15u}) EXPECT_TRUE(async.contains(line)) << line;
}

TEST_P(R2rSample, HandlersBelongToTheirMethod) {
  const Precompiled sample(GetParam());
  const auto main = sample.code.entry_points().FunctionOf(sample.Row("Caught"));
  ASSERT_TRUE(main);
  const R2rFunction handler = sample.code.Function(*main + 1);
  EXPECT_EQ(sample.code.MapOf(*main + 1).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(sample.code.FunctionAt(handler.begin), *main + 1);
  EXPECT_EQ(sample.code.MainFunctionAt(handler.end - 1), main);
  EXPECT_EQ(sample.code.MainFunctionAt(0), std::nullopt);
  EXPECT_EQ(sample.code.MainFunctionAt(0xfffffff0), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(All, R2rSample,
                         ::testing::Values("SampleR2r8", "SampleR2r9", "SampleR2r10"),
                         [](const auto& test) { return std::string(test.param); });

TEST(R2rComposite, HasTheCodeOfItsComponents) {
  const auto component_bytes = ReadSample("SampleComponent.dll");
  const auto component = PeImage::Parse(component_bytes, PeLayout::kFile);
  ASSERT_TRUE(component.ok());
  const auto component_header = ReadR2rHeader(*component);
  ASSERT_TRUE(component_header.ok());
  EXPECT_TRUE(component_header->is_component());
  EXPECT_EQ(OwnerComposite(*component, *component_header), "SampleComposite.r2r.dll");
  EXPECT_EQ(R2rCode::Read(*component).error().code, ErrorCode::kNotFound);

  const auto bytes = ReadSample("SampleComposite.r2r.dll");
  const auto image = PeImage::Parse(bytes, PeLayout::kFile);
  ASSERT_TRUE(image.ok());
  const auto header = ReadR2rHeader(*image);
  ASSERT_TRUE(header.ok()) << header.error().message;
  const auto parts = ReadR2rComponents(*image, *header);
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->size(), 1u);
  const auto entry_points = MethodEntryPoints::Read(*image, parts->front());
  const auto code = R2rCode::Read(*image);
  ASSERT_TRUE(entry_points.ok() && code.ok());
  EXPECT_EQ(code->entry_points().size(), 0u);
  uint32_t methods = 0;
  for (uint32_t row = 1; row <= entry_points->size(); ++row)
    if (const auto function = entry_points->FunctionOf(row)) {
      ++methods;
      EXPECT_TRUE(code->MapOf(*function).ok());
    }
  EXPECT_GT(methods, 20u);
}

TEST(R2rComposite, ExportsItsHeaderByName) {
  auto bytes = ReadSample("SampleComposite.r2r.dll");
  const auto with_cli = ReadR2rHeader(*PeImage::Parse(bytes, PeLayout::kFile));
  // Without a CLI header, as images of native formats have none.
  const size_t pe = LoadAt<uint32_t>(bytes.data() + 0x3c);
  const size_t directories = pe + 24 + 112;
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(directories + 8 * PeImage::kCliHeader), 8,
              std::byte{0});
  const auto image = PeImage::Parse(bytes, PeLayout::kFile);
  ASSERT_TRUE(image.ok());
  ASSERT_EQ(ReadCliHeader(*image).error().code, ErrorCode::kNotFound);
  const auto exported = ReadR2rHeader(*image);
  ASSERT_TRUE(exported.ok()) << exported.error().message;
  EXPECT_EQ(exported->sections.size(), with_cli->sections.size());
}

// What the framework's largest library holds, of the versions for which it was counted once.
struct Counts {
  uint16_t major;
  uint32_t methods, entry_points, functions, functions_with_map;
};
struct FrameworkLibrary {
  const char* version;
  std::vector<fs::path> places;
  Counts counts;
};

std::vector<FrameworkLibrary> FrameworkLibraries() {
  const char* home = std::getenv("HOME");
  const fs::path packages = fs::path(home != nullptr ? home : "/") /
                            ".nuget/packages/microsoft.netcore.app.runtime.linux-x64";
  const auto package = [&](const char* version, const char* framework) {
    return packages / version / "runtimes/linux-x64/lib" / framework / "System.Private.CoreLib.dll";
  };
  const auto shared = [](const char* root) {
    return fs::path(root) / "shared/Microsoft.NETCore.App/10.0.12/System.Private.CoreLib.dll";
  };
  return {{"8.0.33", {package("8.0.33", "net8.0")}, {9, 0, 19594, 37552, 35951}},
          {"9.0.22", {package("9.0.22", "net9.0")}, {10, 0, 20770, 47302, 45537}},
          {"10.0.12",
           {shared("/usr/share/dotnet"), shared("/usr/lib/dotnet"), package("10.0.12", "net10.0")},
           {16, 0, 21579, 50482, 48655}}};
}

Counts CountCode(const PeImage& image, const R2rCode& code) {
  const auto metadata = Metadata::Parse(*MetadataBytes(image));
  Counts out{code.major(), metadata->RowCount(Table::kMethodDef), 0, code.function_count(), 0};
  size_t prologues = 0;
  for (uint32_t row = 1; row <= out.methods; ++row)
    if (code.entry_points().FunctionOf(row)) ++out.entry_points;
  for (uint32_t i = 0; i < out.functions; ++i) {
    const auto map = code.MapOf(i);
    if (!map.ok()) {
      EXPECT_EQ(map.error().code, ErrorCode::kNotFound) << map.error().message;
      continue;
    }
    ++out.functions_with_map;
    EXPECT_EQ(code.MainFunctionAt(code.Function(i).begin), i);
    for (const IlMapEntry& entry : map->entries()) {
      prologues += entry.il_offset == IlMapEntry::kProlog ? 1 : 0;
      EXPECT_GE(entry.il_offset, IlMapEntry::kEpilog);
      EXPECT_LT(entry.il_offset, 1 << 16);
    }
  }
  EXPECT_EQ(prologues, out.functions) << "each function, handlers included, has one";
  return out;
}

TEST(R2rFramework, HasTheMapsOfAllItsMethods) {
  int seen = 0;
  for (const FrameworkLibrary& library : FrameworkLibraries()) {
    for (const fs::path& place : library.places) {
      const auto file = fs::exists(place) ? ReadFileBytes(place) : std::vector<std::byte>();
      if (file.empty()) continue;
      ++seen;
      const auto image = PeImage::Parse(file, PeLayout::kFile);
      ASSERT_TRUE(image.ok());
      const auto code = R2rCode::Read(*image);
      ASSERT_TRUE(code.ok()) << code.error().message;
      const Counts counts = CountCode(*image, *code);
      EXPECT_EQ(counts.major, library.counts.major) << place;
      EXPECT_EQ(counts.entry_points, library.counts.entry_points) << place;
      EXPECT_EQ(counts.functions, library.counts.functions) << place;
      EXPECT_EQ(counts.functions_with_map, library.counts.functions_with_map) << place;
      break;
    }
  }
  if (seen == 0) GTEST_SKIP() << "no System.Private.CoreLib.dll of 8.0.33, 9.0.22 or 10.0.12 here";
}

TEST(R2rCode, DamagedImagesAreReadWithinTheirBounds) {
  ReadDamaged(ReadSample("SampleR2r10.dll"), 29, [](Bytes bytes) {
    const auto image = PeImage::Parse(bytes, PeLayout::kFile);
    if (!image.ok()) return;
    const auto code = R2rCode::Read(*image);
    if (!code.ok()) return;
    for (uint32_t i = 0; i < std::min(code->function_count(), 50u); ++i) {
      (void)code->MapOf(i);
      (void)code->entry_points().FunctionOf(i);
      (void)code->MainFunctionAt(code->Function(i).begin);
    }
  });
}

}  // namespace
}  // namespace clrscope::symbols
