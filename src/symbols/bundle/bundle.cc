// SPDX-License-Identifier: Apache-2.0
#include "symbols/bundle/bundle.h"

#include <fmt/format.h>

#include <algorithm>

#include "symbols/unpack.h"

namespace clrscope::symbols {
namespace {

// SHA-256 of ".net core bundle"; the header's offset lies before it.
constexpr unsigned char kBundleSignature[32] = {
    0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, 0x32,
    0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae};
static_assert(sizeof(uint64_t) + sizeof(kBundleSignature) == kBundleMarkerSize);

// The lengths of names have seven bits in each of two bytes at most.
constexpr size_t kMostBundledName = 4096;

Error BadBundle(ErrorCode code, size_t offset, std::string_view what) {
  return Error::At(code, offset, fmt::format("the bundle's manifest {}", what));
}

std::string_view ReadName(ByteReader& in) {
  size_t size = in.U8();
  if (size >= 0x80) {
    const size_t high = in.U8();
    if (high >= 0x80) in.Fail();
    size = high << 7 | (size & 0x7f);
  }
  if (size == 0 || size > kMostBundledName) in.Fail();
  return AsText(in.Take(size));
}

std::string_view SignatureText() {
  return AsText(AsBytes(kBundleSignature, sizeof(kBundleSignature)));
}

}  // namespace

const BundledFile* BundleManifest::Find(std::string_view path) const {
  const auto it = std::find_if(files.begin(), files.end(),
                               [path](const BundledFile& file) { return file.path == path; });
  return it == files.end() ? nullptr : &*it;
}

std::optional<uint64_t> FindBundleHeader(Bytes part) {
  const size_t at = AsText(part).find(SignatureText(), sizeof(uint64_t));
  if (at == std::string_view::npos) return std::nullopt;
  return LoadAt<uint64_t>(part.data() + at - sizeof(uint64_t));
}

Result<BundleManifest> ReadBundleManifest(Bytes manifest, uint64_t executable_size) {
  ByteReader in(manifest);
  BundleManifest out;
  out.major = in.U32();
  out.minor = in.U32();
  const uint32_t count = in.U32();
  out.id = ReadName(in);
  if (!in.ok()) return BadBundle(ErrorCode::kTruncated, 0, "ends in its header");
  // 3 to 5 were never released.
  if (out.major != 1 && out.major != 2 && out.major != 6)
    return BadBundle(
        ErrorCode::kCorrupt, 0,
        fmt::format("has the version {}.{}: 1, 2 and 6 are known", out.major, out.minor));
  if (out.major >= 2) in.Skip(5 * sizeof(uint64_t));  // two of the files once more, and flags
  const size_t fixed = (out.major >= 6 ? 3 : 2) * sizeof(uint64_t) + 1;
  if (count > in.remaining() / (fixed + 2))
    return BadBundle(ErrorCode::kTruncated, 8, fmt::format("has no room for {} files", count));
  out.files.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const size_t at = in.position();
    BundledFile file;
    file.offset = in.U64();
    file.size = in.U64();
    if (out.major >= 6) file.compressed_size = in.U64();
    const uint8_t type = in.U8();
    if (type <= static_cast<uint8_t>(BundledType::kSymbols))
      file.type = static_cast<BundledType>(type);
    file.path = ReadName(in);
    if (!in.ok()) return BadBundle(ErrorCode::kTruncated, at, "ends in its files");
    if (file.offset > executable_size || file.stored_size() > executable_size - file.offset)
      return BadBundle(ErrorCode::kCorrupt, at, "has a file that is not in the executable");
    out.files.push_back(file);
  }
  return out;
}

Result<std::vector<std::byte>> UnpackBundled(const BundledFile& file,
                                             std::vector<std::byte> stored) {
  if (stored.size() != file.stored_size())
    return Error{ErrorCode::kTruncated, fmt::format("{} of {} bytes of {} are there", stored.size(),
                                                    file.stored_size(), file.path)};
  if (file.compressed_size == 0) return stored;
  return Inflate(stored, file.size);
}

}  // namespace clrscope::symbols
