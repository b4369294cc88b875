// SPDX-License-Identifier: Apache-2.0
#include "symbols/pe/pe_image.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "base/hex.h"

namespace clrscope::symbols {
namespace {

constexpr size_t kLfanewOffset = 0x3c, kCoffHeaderSize = 20, kSectionHeaderSize = 40;
constexpr uint32_t kMostDirectories = 16;
constexpr unsigned kMostPeSections = 96;  // as Windows' loader has it

// What a ReadyToRun image's machine is mixed with, by exclusive or.
constexpr std::pair<uint16_t, PeSystem> kSystems[] = {
    {0x0000, PeSystem::kAny},     {0x7b79, PeSystem::kLinux},  {0x4644, PeSystem::kApple},
    {0xadc4, PeSystem::kFreeBsd}, {0x1993, PeSystem::kNetBsd}, {0x1992, PeSystem::kSunOs}};
constexpr uint16_t kMachines[] = {PeImage::kAmd64, PeImage::kArm64, 0x014c, 0x01c4, 0x6264, 0x5064};

std::pair<uint16_t, PeSystem> SplitMachine(uint16_t mixed) {
  for (const auto& [mask, system] : kSystems)
    for (const uint16_t machine : kMachines)
      if (mixed == (machine ^ mask)) return {machine, system};
  return {mixed, PeSystem::kAny};
}

Error BadPe(ErrorCode code, size_t offset, const std::string& what) {
  return Error::At(code, offset, "the PE file " + what);
}

// The part of `bytes` that begins at `offset`, at most `size` long.
Bytes Clip(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset >= bytes.size()) return {};
  const auto at = static_cast<size_t>(offset);
  return bytes.subspan(at, static_cast<size_t>(std::min<uint64_t>(size, bytes.size() - at)));
}

}  // namespace

Result<PeImage> PeImage::Parse(Bytes bytes, PeLayout layout) {
  if (bytes.size() < kLfanewOffset + 4 || AsText(bytes.first(2)) != "MZ")
    return BadPe(ErrorCode::kCorrupt, 0, "does not begin with MZ");
  const auto at = LoadAt<uint32_t>(bytes.data() + kLfanewOffset);
  ByteReader in(Clip(bytes, at, ~uint64_t{0}));
  if (AsText(in.Take(4)) != std::string_view("PE\0\0", 4))
    return BadPe(ErrorCode::kCorrupt, at, "lacks its signature");

  PeImage image;
  image.bytes_ = bytes;
  image.layout_ = layout;
  std::tie(image.machine_, image.system_) = SplitMachine(in.U16());
  const uint16_t section_count = in.U16();
  image.stamp_ = in.U32();
  in.Skip(8);  // a symbol table that no assembly has
  const uint16_t optional_size = in.U16();
  in.Skip(2);

  const size_t optional_at = at + 4 + kCoffHeaderSize;
  ByteReader optional(in.Take(optional_size));
  const uint16_t magic = optional.U16();
  if (!optional.ok()) return BadPe(ErrorCode::kTruncated, optional_at, "ends in its headers");
  if (magic != 0x10b && magic != 0x20b)
    return BadPe(ErrorCode::kCorrupt, optional_at, "has the magic " + HexNumber(magic));
  image.is_64_bit_ = magic == 0x20b;
  optional.Skip(54);
  image.image_size_ = optional.U32();
  image.headers_size_ = optional.U32();
  optional.Skip(image.is_64_bit_ ? 44 : 28);
  const uint32_t directory_count = std::min(optional.U32(), kMostDirectories);
  for (uint32_t i = 0; i < directory_count && optional.remaining() >= 8; ++i) {
    const uint32_t rva = optional.U32();
    image.directories_.push_back({rva, optional.U32()});
  }
  if (!optional.ok()) return BadPe(ErrorCode::kTruncated, optional_at, "ends in its headers");

  if (section_count > kMostPeSections)
    return BadPe(ErrorCode::kCorrupt, at, "has " + std::to_string(section_count) + " sections");
  if (in.remaining() < section_count * kSectionHeaderSize)
    return BadPe(ErrorCode::kTruncated, optional_at + optional_size, "ends in its sections");
  for (unsigned i = 0; i < section_count; ++i) {
    PeSection section;
    const std::string_view name = AsText(in.Take(8));
    section.name = name.substr(0, name.find('\0'));
    section.virtual_size = in.U32();
    section.rva = in.U32();
    section.file_size = in.U32();
    section.file_offset = in.U32();
    in.Skip(16);
    image.sections_.push_back(section);
  }
  return image;
}

DataDirectory PeImage::directory(Directory which) const {
  return which < directories_.size() ? directories_[which] : DataDirectory{};
}

Bytes PeImage::FromRva(uint32_t rva) const {
  if (rva < headers_size_) return Clip(bytes_, rva, headers_size_ - rva);
  for (const PeSection& s : sections_) {
    // What is on disk is padded, what is in memory may be filled with zeros.
    const uint32_t size = layout_ == PeLayout::kMapped ? std::max(s.virtual_size, s.file_size)
                          : s.virtual_size == 0        ? s.file_size
                                                       : std::min(s.virtual_size, s.file_size);
    if (rva < s.rva || rva - s.rva >= size) continue;
    const uint32_t within = rva - s.rva;
    const uint64_t base = layout_ == PeLayout::kMapped ? s.rva : s.file_offset;
    return Clip(bytes_, base + within, size - within);
  }
  return {};
}

Result<Bytes> PeImage::AtRva(DataDirectory range) const {
  const Bytes there = FromRva(range.rva);
  if (there.size() < range.size)
    return Error{ErrorCode::kTruncated, "the PE file has no " + std::to_string(range.size) +
                                            " bytes at the RVA " + HexNumber(range.rva)};
  return there.first(range.size);
}

Bytes PeImage::AtFileOffset(uint32_t offset, uint32_t size) const {
  if (layout_ != PeLayout::kFile) return {};
  const Bytes there = Clip(bytes_, offset, size);
  return there.size() == size ? there : Bytes();
}

}  // namespace clrscope::symbols
