// SPDX-License-Identifier: Apache-2.0
#include "capture/agent_image.h"

#include <elf.h>

#include <cstring>

extern "C" {
extern const std::byte clrscope_agent_image[];      // NOLINT(readability-identifier-naming)
extern const std::byte clrscope_agent_image_end[];  // NOLINT(readability-identifier-naming)
}

namespace clrscope::capture {
namespace {

// The .note.gnu.build-id of an ELF file, as hex; "" when it has none.
std::string BuildId(Bytes image) {
  ByteReader r(image);
  const auto header = r.Read<Elf64_Ehdr>();
  for (unsigned i = 0; r.ok() && i < header.e_phnum; ++i) {
    ByteReader at(image);
    at.Skip(header.e_phoff + size_t{i} * sizeof(Elf64_Phdr));
    const auto segment = at.Read<Elf64_Phdr>();
    if (!at.ok() || segment.p_type != PT_NOTE) continue;
    ByteReader notes(image);
    notes.Skip(segment.p_offset);
    ByteReader in(notes.Take(segment.p_filesz));
    while (in.ok() && in.remaining() >= sizeof(Elf64_Nhdr)) {
      const auto note = in.Read<Elf64_Nhdr>();
      in.Skip((note.n_namesz + 3) / 4 * 4);
      const Bytes id = in.Take((note.n_descsz + 3) / 4 * 4);
      if (!in.ok() || note.n_type != NT_GNU_BUILD_ID) continue;
      std::string out;
      for (const std::byte b : id) {
        constexpr const char* kDigits = "0123456789abcdef";
        out += kDigits[static_cast<uint8_t>(b) >> 4];
        out += kDigits[static_cast<uint8_t>(b) & 15];
      }
      return out;
    }
  }
  return {};
}

}  // namespace

Bytes AgentImage() {
  return {clrscope_agent_image,
          static_cast<size_t>(clrscope_agent_image_end - clrscope_agent_image)};
}

std::string AgentFileName() {
  static const std::string name = "clrscope-agent-" + BuildId(AgentImage()).substr(0, 20) + ".so";
  return name;
}

}  // namespace clrscope::capture
