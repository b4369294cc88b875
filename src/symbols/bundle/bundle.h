// SPDX-License-Identifier: Apache-2.0
// Single-file programs: what is bundled into an executable, behind the host that runs it.
// Source: dotnet/runtime src/native/corehost/bundle/header.h and file_entry.cpp (versions 1, 2 and
// 6), src/native/corehost/apphost/bundle_marker.h
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace clrscope::symbols {

enum class BundledType : uint8_t {
  kUnknown,
  kAssembly,
  kNativeBinary,
  kDepsJson,
  kRuntimeConfigJson,
  kSymbols,  // a PDB
};

struct BundledFile {
  std::string_view path;  // relative to the program's folder, with '/'
  BundledType type = BundledType::kUnknown;
  uint64_t offset = 0;           // in the executable, within it
  uint64_t size = 0;             // bytes, unpacked
  uint64_t compressed_size = 0;  // bytes there; 0: it is not compressed
  uint64_t stored_size() const { return compressed_size != 0 ? compressed_size : size; }
};

struct BundleManifest {
  uint32_t major = 0, minor = 0;
  std::string_view id;
  std::vector<BundledFile> files;

  // Null: there is no such file.
  const BundledFile* Find(std::string_view path) const;
};

// The host holds a marker that says where the manifest lies; hosts are some 10 MB at most.
inline constexpr size_t kBundleMarkerSize = 40;
// More than the manifest of any program: some 60 bytes a file.
inline constexpr size_t kMostBundleManifest = size_t{4} << 20;

// Where the manifest begins in the executable that `part` is a part of. Nothing: no marker lies in
// it as a whole. 0: it does, and says that nothing is bundled.
std::optional<uint64_t> FindBundleHeader(Bytes part);

// `manifest`: from where it begins, at most kMostBundleManifest bytes; its views lie in there.
// `executable_size`: what the files have to lie within. errors: kCorrupt, kTruncated
Result<BundleManifest> ReadBundleManifest(Bytes manifest, uint64_t executable_size);

// `stored`: the bytes of the executable from the file's offset on, as many as are stored.
// errors: kCorrupt, kTruncated; kFailed past kMostUnpacked (symbols/unpack.h)
Result<std::vector<std::byte>> UnpackBundled(const BundledFile& file,
                                             std::vector<std::byte> stored);

}  // namespace clrscope::symbols
