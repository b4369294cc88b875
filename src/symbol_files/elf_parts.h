// SPDX-License-Identifier: Apache-2.0
// What of an ELF file tells of its functions, read without the rest: most of a library is code, and
// most of a file of symbols is debug information.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/byte_reader.h"
#include "base/result.h"
#include "symbol_files/file_root.h"
#include "symbol_files/sparse_memory.h"
#include "symbols/elf/elf_file.h"

namespace clrscope::symbol_files {

// A copy of the file at its full length, in which all that was not read is 0 and takes no memory.
class ElfParts {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{8} << 30;    // of the file
  static constexpr uint64_t kMostRead = FileRoot::kMostBytes;  // of these parts

  // Headers, notes, tables of symbols with their names, .gnu_debuglink and .gnu_debugdata.
  // errors: kIo; kCorrupt, kTruncated as ElfFile::Parse(), at once for what is no ELF file;
  // kRefused past the limits
  static Result<ElfParts> Read(const OpenFile& file);
  // The same of a file that lies in memory.
  static Result<ElfParts> Copy(Bytes file);

  // Views into it stay valid when it is moved.
  const symbols::ElfFile& elf() const { return elf_; }
  bool Has(uint32_t section_type) const;  // SHT_*
  uint64_t bytes_read() const { return read_; }

 private:
  template <class Fill>
  static Result<ElfParts> Gather(uint64_t size, Fill&& fill);
  explicit ElfParts(SparseMemory memory) : memory_(std::move(memory)) {}

  SparseMemory memory_;
  symbols::ElfFile elf_;
  uint64_t read_ = 0;
};

}  // namespace clrscope::symbol_files
