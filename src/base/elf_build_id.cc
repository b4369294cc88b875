// SPDX-License-Identifier: Apache-2.0
#include "base/elf_build_id.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/hex.h"

namespace clrscope {
namespace {

// Of the notes in one segment; nothing: not among these.
std::optional<std::string> BuildIdAmong(Bytes notes) {
  ByteReader in(notes);
  while (in.ok() && in.remaining() >= sizeof(Elf64_Nhdr)) {
    const auto note = in.Read<Elf64_Nhdr>();
    in.Skip((size_t{note.n_namesz} + 3) / 4 * 4);
    const Bytes id = in.Take((size_t{note.n_descsz} + 3) / 4 * 4);
    if (!in.ok() || note.n_type != NT_GNU_BUILD_ID) continue;
    return HexText(id.first(note.n_descsz));
  }
  return std::nullopt;
}

// `read(offset, size)`: the bytes there, or fewer.
template <class Read>
std::string BuildIdOf(Read&& read) {
  constexpr size_t kMostNotes = 64 << 10;
  constexpr unsigned kMostSegments = 256;
  const Bytes first = read(0, sizeof(Elf64_Ehdr));
  if (first.size() < sizeof(Elf64_Ehdr) || std::memcmp(first.data(), ELFMAG, SELFMAG) != 0 ||
      first[EI_CLASS] != std::byte{ELFCLASS64} || first[EI_DATA] != std::byte{ELFDATA2LSB})
    return {};
  const auto header = LoadAt<Elf64_Ehdr>(first.data());
  for (unsigned i = 0; i < std::min<unsigned>(header.e_phnum, kMostSegments); ++i) {
    const Bytes at = read(header.e_phoff + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
    if (at.size() < sizeof(Elf64_Phdr)) return {};
    const auto segment = LoadAt<Elf64_Phdr>(at.data());
    if (segment.p_type != PT_NOTE) continue;
    const size_t size = std::min<uint64_t>(segment.p_filesz, kMostNotes);
    if (auto id = BuildIdAmong(read(segment.p_offset, size))) return *id;
  }
  return {};
}

}  // namespace

std::string ElfBuildId(Bytes image) {
  return BuildIdOf([image](uint64_t offset, size_t size) {
    if (offset > image.size()) return Bytes();
    return image.subspan(offset, std::min(size, image.size() - static_cast<size_t>(offset)));
  });
}

std::string ElfBuildId(int fd) {
  std::vector<std::byte> buffer;
  return BuildIdOf([fd, &buffer](uint64_t offset, size_t size) {
    buffer.resize(size);
    const ssize_t got = ::pread(fd, buffer.data(), size, static_cast<off_t>(offset));
    return Bytes(buffer.data(), got > 0 ? static_cast<size_t>(got) : 0);
  });
}

}  // namespace clrscope
