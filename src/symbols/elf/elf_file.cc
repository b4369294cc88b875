// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf/elf_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "base/elf_build_id.h"
#include "symbols/unpack.h"

namespace clrscope::symbols {
namespace {

constexpr size_t kMostSectionName = 256;
constexpr unsigned kMostSegments = 256;

Error BadElf(ErrorCode code, uint64_t offset, std::string_view what) {
  return Error::At(code, offset, fmt::format("the ELF file {}", what));
}

// Empty where the range is not all there.
Bytes Range(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
}

// Of a table of names, at most `most` bytes.
std::string_view NameAt(Bytes names, uint64_t offset, size_t most) {
  if (offset >= names.size()) return {};
  const std::string_view text = AsText(names).substr(static_cast<size_t>(offset), most);
  return text.substr(0, text.find('\0'));
}

}  // namespace

bool DebugLink::Matches(Bytes file) const {
  return crc32_z(0, reinterpret_cast<const Bytef*>(file.data()), file.size()) == crc;
}

Result<ElfFile> ElfFile::Parse(Bytes bytes) {
  if (bytes.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return BadElf(ErrorCode::kCorrupt, 0, "does not begin with an ELF header");
  if (bytes[EI_CLASS] != std::byte{ELFCLASS64} || bytes[EI_DATA] != std::byte{ELFDATA2LSB})
    return BadElf(ErrorCode::kCorrupt, EI_CLASS, "is not of 64 bits and little-endian");
  const auto header = LoadAt<Elf64_Ehdr>(bytes.data());
  ElfFile out;
  out.bytes_ = bytes;
  out.machine_ = header.e_machine;

  for (unsigned i = 0; i < std::min<unsigned>(header.e_phnum, kMostSegments); ++i) {
    const Bytes at = Range(bytes, header.e_phoff + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
    if (at.empty()) break;
    const auto segment = LoadAt<Elf64_Phdr>(at.data());
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
      out.code_.push_back({segment.p_offset, segment.p_vaddr, segment.p_filesz, segment.p_memsz});
  }

  // A file without sections has no symbols either.
  if (header.e_shoff == 0 || header.e_shnum == 0) return out;
  const Bytes table = Range(bytes, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  if (table.empty() || header.e_shentsize != sizeof(Elf64_Shdr))
    return BadElf(ErrorCode::kTruncated, header.e_shoff, "ends before its sections");
  std::vector<uint32_t> names;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const auto s = LoadAt<Elf64_Shdr>(table.data() + i * sizeof(Elf64_Shdr));
    out.sections_.push_back(
        {{}, s.sh_type, s.sh_flags, s.sh_addr, s.sh_offset, s.sh_size, s.sh_link});
    names.push_back(s.sh_name);
  }
  if (header.e_shstrndx < out.sections_.size()) {
    const Bytes text = out.Data(out.sections_[header.e_shstrndx]);
    for (size_t i = 0; i < names.size(); ++i)
      out.sections_[i].name = NameAt(text, names[i], kMostSectionName);
  }
  return out;
}

const ElfSection* ElfFile::Section(std::string_view name) const {
  for (const ElfSection& section : sections_)
    if (section.name == name) return &section;
  return nullptr;
}

Bytes ElfFile::Data(const ElfSection& section) const {
  if (section.type == SHT_NOBITS || section.type == SHT_NULL) return {};
  return Range(bytes_, section.offset, section.size);
}

std::string ElfFile::build_id() const { return ElfBuildId(bytes_); }

std::optional<DebugLink> ElfFile::debug_link() const {
  const ElfSection* section = Section(".gnu_debuglink");
  if (section == nullptr) return std::nullopt;
  const Bytes data = Data(*section);
  DebugLink out;
  out.file_name = NameAt(data, 0, data.size());
  const size_t crc_at = (out.file_name.size() / 4 + 1) * 4;
  if (out.file_name.empty() || data.size() < crc_at + 4 ||
      out.file_name.find('/') != std::string_view::npos)
    return std::nullopt;
  out.crc = LoadAt<uint32_t>(data.data() + crc_at);
  return out;
}

Result<std::vector<std::byte>> ElfFile::UnpackDebugData() const {
  const ElfSection* section = Section(".gnu_debugdata");
  if (section == nullptr) return Error{ErrorCode::kNotFound, "the ELF file has no packed symbols"};
  return UnpackXz(Data(*section));
}

std::optional<ElfFile::Code> ElfFile::only_code() const {
  if (code_.size() != 1) return std::nullopt;
  return Code{code_.front().address, code_.front().memory_size};
}

std::optional<uint64_t> ElfFile::AddressOfCode(uint64_t offset) const {
  for (const Segment& segment : code_)
    if (offset >= segment.offset && offset - segment.offset < segment.size)
      return segment.address + (offset - segment.offset);
  return std::nullopt;
}

}  // namespace clrscope::symbols
