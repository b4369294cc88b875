// SPDX-License-Identifier: Apache-2.0
// The functions of one mapped file, by where their code lies in it. What it was read from stays
// with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbol_files/elf_parts.h"
#include "symbols/elf/symbol_table.h"

namespace clrscope::symbol_files {

// A stretch of a file that is mapped for execution.
struct MappedFile {
  std::string path;        // as the process names it: absolute, or "[vdso]"
  std::string build_id;    // hex; "" when it has none, or nobody knows
  bool same_file = false;  // what the path names now is known to be what is mapped
  uint64_t offset = 0;     // in the file, of its first byte
  uint64_t size = 0;
};

class NativeFunctions {
 public:
  // A name is not longer than this when it is shown.
  static constexpr size_t kMostName = 4096;

  NativeFunctions() = default;
  NativeFunctions(const NativeFunctions&) = delete;  // names are views into what it holds
  NativeFunctions& operator=(const NativeFunctions&) = delete;

  // The mapped file itself: its functions, and which addresses its code has.
  void AddImage(ElfParts image);
  // A file of its symbols.
  void AddSymbols(ElfParts symbols);
  void AddUnpacked(std::vector<std::byte> symbols);
  // After the last of them, before NameAt().
  void Finish() { table_.Finish(); }

  // As people write it, of the function whose code lies at `offset` in the file; "": of none. All
  // of clrscope's agent is kAgentName.
  // Without the image its addresses follow from `mapped`, if it is all of the file's code.
  std::string NameAt(uint64_t offset, const MappedFile& mapped) const;

  size_t size() const { return table_.size(); }
  size_t left_out() const { return table_.left_out(); }
  // Roughly, of memory.
  uint64_t bytes() const;

 private:
  std::optional<uint64_t> AddressOf(uint64_t offset, const MappedFile& mapped) const;

  std::optional<ElfParts> image_;
  std::vector<ElfParts> symbols_;
  std::vector<std::vector<std::byte>> unpacked_;
  symbols::SymbolTable table_;
  bool is_agent_ = false;
};

}  // namespace clrscope::symbol_files
