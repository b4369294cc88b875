// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/code_images.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "symbols/pe/pe_image.h"

namespace clrscope::capture {
namespace {

constexpr size_t kMostHeaders = 64, kMostImages = 10'000;

}  // namespace

Bytes CodeImages::Pieces::At(uint64_t address, size_t size) {
  if (used_ == rooms_.size()) rooms_.emplace_back();
  std::vector<std::byte>& room = rooms_[used_++];
  room.resize(size);
  return {room.data(), memory_.Read(address, room)};
}

bool CodeImages::ReadWhole(uint64_t address, std::span<std::byte> to) {
  return memory_.Read(address, to) == to.size();
}

void CodeImages::Forget() {
  elf_.clear();
  pe_.clear();
}

// Source: elf(5)
const unwind::NativeModule& CodeImages::ElfAt(uint64_t base) {
  if (elf_.size() >= kMostImages) elf_.clear();
  const auto [it, fresh] = elf_.try_emplace(base);
  unwind::NativeModule& m = it->second;
  if (!fresh) return m;
  Elf64_Ehdr head;
  if (!ReadWhole(base, std::as_writable_bytes(std::span(&head, 1)))) return m;
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_phentsize != sizeof(Elf64_Phdr) ||
      head.e_phnum == 0 || head.e_phnum > kMostHeaders)
    return m;
  std::array<Elf64_Phdr, kMostHeaders> room;
  const std::span<Elf64_Phdr> segments(room.data(), head.e_phnum);
  if (!ReadWhole(base + head.e_phoff, std::as_writable_bytes(segments))) return m;
  const auto first = std::find_if(segments.begin(), segments.end(), [](const Elf64_Phdr& p) {
    return p.p_type == PT_LOAD && p.p_offset == 0;
  });
  if (first == segments.end()) return m;
  const uint64_t bias = base - first->p_vaddr;
  uint64_t header = 0, header_end = 0;
  m.image = ~uint64_t{0};
  for (const Elf64_Phdr& p : segments) {
    const uint64_t begin = bias + p.p_vaddr;
    if (p.p_type == PT_GNU_EH_FRAME) {
      header = begin;
      header_end = begin + p.p_memsz;
    }
    if (p.p_type != PT_LOAD || (p.p_flags & PF_R) == 0) continue;
    m.image = std::min(m.image, begin);
    m.image_end = std::max(m.image_end, begin + p.p_filesz);
  }
  if (header < m.image || header_end > m.image_end || header_end <= header) return m;
  m.header = header;
  m.header_end = header_end;
  return m;
}

unwind::FrameRule CodeImages::NativeRule(uint64_t base, uint64_t at) {
  unwind::FrameRule none;
  none.state = unwind::RuleState::kSnapshot;
  const unwind::NativeModule& m = ElfAt(base);
  if (m.header == 0) return none;
  const unwind::FrameRule rule = unwind::RuleAt(m, at, pieces_);
  pieces_.Forget();
  return rule;
}

// Source: dotnet/runtime src/coreclr/inc/clrnt.h, RUNTIME_FUNCTION
const CodeImages::PeImage& CodeImages::PeAt(uint64_t base) {
  if (pe_.size() >= kMostImages) pe_.clear();
  const auto [it, fresh] = pe_.try_emplace(base);
  PeImage& image = it->second;
  if (!fresh) return image;
  constexpr uint32_t kEntry = 12, kMostFunctions = 16u << 20;
  std::array<std::byte, 4096> head;
  const Bytes there(head.data(), memory_.Read(base, head));
  const auto pe = symbols::PeImage::Parse(there, symbols::PeLayout::kMapped);
  if (!pe.ok() || !pe->is_64_bit()) return image;
  const symbols::DataDirectory table = pe->directory(symbols::PeImage::kException);
  if (table.rva == 0 || table.size / kEntry > kMostFunctions) return image;
  image.table = base + table.rva;
  image.count = table.size / kEntry;
  return image;
}

CodeImages::Found CodeImages::FunctionAt(uint64_t base, uint64_t at, Function* out) {
  struct Entry {
    uint32_t begin, end, unwind;  // from the image's begin
  };
  constexpr uint32_t kPiece = 128;
  const PeImage& image = PeAt(base);
  if (image.count == 0 || at < base || at - base > UINT32_MAX) return Found::kNoTable;
  const auto rva = static_cast<uint32_t>(at - base);
  uint32_t low = 0, count = image.count;
  while (count > kPiece) {
    Entry middle;
    if (!ReadWhole(image.table + uint64_t{low + count / 2} * sizeof(Entry),
                   std::as_writable_bytes(std::span(&middle, 1))))
      return Found::kNoTable;
    if (middle.begin <= rva) {
      low += count / 2;
      count -= count / 2;
    } else {
      count /= 2;
    }
  }
  std::array<Entry, kPiece> piece;
  const std::span<Entry> entries(piece.data(), count);
  if (!ReadWhole(image.table + uint64_t{low} * sizeof(Entry), std::as_writable_bytes(entries)))
    return Found::kNoTable;
  const auto after = std::upper_bound(entries.begin(), entries.end(), rva,
                                      [](uint32_t r, const Entry& e) { return r < e.begin; });
  if (after == entries.begin() || rva >= (after - 1)->end) return Found::kNone;
  *out = {base + (after - 1)->begin, base + (after - 1)->end};
  return Found::kFunction;
}

}  // namespace clrscope::capture
