// SPDX-License-Identifier: Apache-2.0
#include "symbol_files/elf_parts.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace clrscope::symbol_files {
namespace {

constexpr unsigned kMostSegments = 256;

Error PastLimit(uint64_t bytes, uint64_t most) {
  return {ErrorCode::kRefused,
          fmt::format("{} MB of an ELF file, more than the {} MB that are read", bytes >> 20,
                      most >> 20)};
}

}  // namespace

bool ElfParts::Has(uint32_t section_type) const {
  return std::any_of(elf_.sections().begin(), elf_.sections().end(),
                     [&](const symbols::ElfSection& s) { return s.type == section_type; });
}

// `fill(offset, into)` as OpenFile::ReadAt().
template <class Fill>
Result<ElfParts> ElfParts::Gather(uint64_t size, Fill&& fill) {
  Elf64_Ehdr header{};
  const std::span<std::byte> first = std::as_writable_bytes(std::span(&header, 1));
  ASSIGN_OR_RETURN(const size_t got, fill(uint64_t{0}, first));
  // What is no such file at all is told without memory for it.
  if (size < sizeof(header) || got < sizeof(header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return symbols::ElfFile::Parse(first.first(std::min<size_t>(got, 4))).error();
  if (size > kMostBytes) return PastLimit(size, kMostBytes);
  ASSIGN_OR_RETURN(SparseMemory memory, SparseMemory::Of(size));
  const std::span<std::byte> whole = memory.bytes();
  ElfParts parts(std::move(memory));

  // What lies outside of the file is left to who reads it.
  const auto take = [&](uint64_t offset, uint64_t bytes) -> Status {
    if (offset >= size) return OkStatus();
    bytes = std::min(bytes, size - offset);
    if (bytes > kMostRead - parts.read_) return PastLimit(parts.read_ + bytes, kMostRead);
    ASSIGN_OR_RETURN(const size_t n, fill(offset, whole.subspan(static_cast<size_t>(offset),
                                                                static_cast<size_t>(bytes))));
    parts.read_ += n;
    return OkStatus();
  };
  const auto at = [&]<class T>(uint64_t offset, T* into) {
    if (offset > size || size - offset < sizeof(T)) return false;
    *into = LoadAt<T>(whole.data() + offset);
    return true;
  };
  RETURN_IF_ERROR(take(0, sizeof(header)));
  header = LoadAt<Elf64_Ehdr>(whole.data());  // it may have changed meanwhile
  const unsigned segments = std::min<unsigned>(header.e_phnum, kMostSegments);
  RETURN_IF_ERROR(take(header.e_phoff, uint64_t{segments} * sizeof(Elf64_Phdr)));
  RETURN_IF_ERROR(take(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)));
  Elf64_Shdr names;
  if (header.e_shoff <= size &&
      at(header.e_shoff + uint64_t{header.e_shstrndx} * sizeof(Elf64_Shdr), &names))
    RETURN_IF_ERROR(take(names.sh_offset, names.sh_size));
  constexpr uint64_t kMostNotes = 64 << 10;
  Elf64_Phdr segment;
  for (unsigned i = 0; i < segments && header.e_phoff <= size; ++i)
    if (at(header.e_phoff + i * sizeof(segment), &segment) && segment.p_type == PT_NOTE)
      RETURN_IF_ERROR(take(segment.p_offset, std::min<uint64_t>(segment.p_filesz, kMostNotes)));
  ASSIGN_OR_RETURN(parts.elf_, symbols::ElfFile::Parse(whole));

  const auto& sections = parts.elf_.sections();
  bool symtab = false, dynsym = false;  // a file has at most one of each
  for (const symbols::ElfSection& s : sections) {
    const bool table = (s.type == SHT_SYMTAB && !std::exchange(symtab, true)) ||
                       (s.type == SHT_DYNSYM && !std::exchange(dynsym, true));
    if (table || s.name == ".gnu_debuglink" || s.name == ".gnu_debugdata")
      RETURN_IF_ERROR(take(s.offset, s.size));
    if (table && s.link < sections.size())
      RETURN_IF_ERROR(take(sections[s.link].offset, sections[s.link].size));
  }
  return parts;
}

Result<ElfParts> ElfParts::Read(const OpenFile& file) {
  return Gather(file.size(), [&](uint64_t offset, std::span<std::byte> into) {
    return file.ReadAt(offset, into);
  });
}

Result<ElfParts> ElfParts::Copy(Bytes file) {
  return Gather(file.size(), [&](uint64_t offset, std::span<std::byte> into) -> Result<size_t> {
    if (offset >= file.size()) return size_t{0};
    const size_t n = std::min<size_t>(into.size(), file.size() - static_cast<size_t>(offset));
    std::memcpy(into.data(), file.data() + offset, n);
    return n;
  });
}

}  // namespace clrscope::symbol_files
