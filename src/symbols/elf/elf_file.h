// SPDX-License-Identifier: Apache-2.0
// The sections of an ELF file, and where the rest of its symbols may be.
// Source: System V ABI; GDB's manual (.gnu_debuglink, .gnu_debugdata)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace clrscope::symbols {

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;     // SHT_*
  uint64_t flags = 0;    // SHF_*
  uint64_t address = 0;  // in memory, from the file's own base
  uint64_t offset = 0;   // in the file
  uint64_t size = 0;     // bytes; of SHT_NOBITS in memory alone
  uint32_t link = 0;     // of symbols: the section of their names
};

// The file that a stripped one's symbols were moved to, beside it or in a debug folder.
struct DebugLink {
  std::string_view file_name;  // without a folder
  uint32_t crc = 0;            // CRC-32 of the whole file
  // Whether these are its bytes.
  bool Matches(Bytes file) const;
};

// Views into the bytes that it was read from. 64 bits, little-endian.
class ElfFile {
 public:
  // errors: kCorrupt, kTruncated with the offset
  static Result<ElfFile> Parse(Bytes bytes);

  uint16_t machine() const { return machine_; }  // EM_*
  const std::vector<ElfSection>& sections() const { return sections_; }
  // Null: there is none.
  const ElfSection* Section(std::string_view name) const;
  // What lies in the file; empty for what is only in memory, or outside of the file.
  Bytes Data(const ElfSection& section) const;

  // In hex, "" where there is none. A separate file of symbols has that of the file it belongs to.
  std::string build_id() const;
  // Nothing where there is none, or it names a folder.
  std::optional<DebugLink> debug_link() const;
  // The ELF file of more symbols that is packed into this one. errors: kNotFound, as UnpackXz()
  Result<std::vector<std::byte>> UnpackDebugData() const;

  // The address of what lies at `offset` in the file and is executable.
  std::optional<uint64_t> AddressOfCode(uint64_t offset) const;
  // What is executable, as it lies in memory: also in a separate file of symbols, which does not
  // have it. Nothing where it is not one piece.
  struct Code {
    uint64_t address = 0, size = 0;
  };
  std::optional<Code> only_code() const;

 private:
  struct Segment {
    uint64_t offset = 0, address = 0, size = 0;
    uint64_t memory_size = 0;
  };

  Bytes bytes_;
  uint16_t machine_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<Segment> code_;
};

}  // namespace clrscope::symbols
