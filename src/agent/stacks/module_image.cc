// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/module_image.h"

#include <algorithm>
#include <array>

#include "symbols/pe/cli_header.h"

namespace clrscope::agent {
namespace {

// Compilers' headers have 512 bytes, those of many sections 1 or 2 KB.
constexpr size_t kMostHeaderBytes = 4096;

// How many bytes of memory the image has, by its headers.
uint64_t SizeInMemory(const symbols::PeImage& image) {
  if (image.layout() == symbols::PeLayout::kMapped) return image.image_size();
  uint64_t size = 0;
  for (const symbols::PeSection& s : image.sections())
    size = std::max(size, uint64_t{s.file_offset} + s.file_size);
  return size;
}

// Whether a range, of which no part in the middle can be missing, is there.
bool IsThere(Bytes bytes, const OwnReader& memory) {
  std::byte b{};
  const auto at = [](const std::byte& where) { return reinterpret_cast<uintptr_t>(&where); };
  return !bytes.empty() && memory.Read(at(bytes.front()), &b) && memory.Read(at(bytes.back()), &b);
}

}  // namespace

std::optional<symbols::Metadata> MetadataInPlace(const uint8_t* base, symbols::PeLayout layout,
                                                 const OwnReader& memory) {
  std::array<std::byte, kMostHeaderBytes> copy;
  const size_t size = memory.ReadSome(reinterpret_cast<uintptr_t>(base), copy.data(), copy.size());
  const auto headers = symbols::PeImage::Parse({copy.data(), size}, layout);
  if (!headers) return std::nullopt;
  const auto image = symbols::PeImage::Parse(AsBytes(base, SizeInMemory(*headers)), layout);
  if (!image) return std::nullopt;
  const symbols::DataDirectory header = image->directory(symbols::PeImage::kCliHeader);
  const auto header_bytes = image->AtRva(header);
  if (!header_bytes || !IsThere(*header_bytes, memory)) return std::nullopt;
  const auto bytes = symbols::MetadataBytes(*image);
  if (!bytes || !IsThere(*bytes, memory)) return std::nullopt;
  auto metadata = symbols::Metadata::Parse(*bytes);
  if (!metadata) return std::nullopt;
  return metadata.Take();
}

}  // namespace clrscope::agent
