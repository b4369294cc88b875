// SPDX-License-Identifier: Apache-2.0
// The functions of ELF files, by address.
// Source: System V ABI (symbol tables)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "symbols/elf/elf_file.h"

namespace clrscope::symbols {

struct ElfSymbol {
  uint64_t address = 0;   // of its first instruction, from the file's own base
  uint64_t size = 0;      // bytes
  std::string_view name;  // as it is stored: Demangle() it
};

// What a file, its packed symbols and its separate file say together. Views into their bytes.
class SymbolTable {
 public:
  // Past it symbols are left out, and counted: 4 million, several times those of a web browser.
  static constexpr size_t kMostSymbols = size_t{4} << 20;

  // Takes the functions of .symtab and .dynsym.
  void Add(const ElfFile& file);
  // After the last Add(), before the first Find(). Of several names for an address the one that
  // tells most stays: with a size before without, global before weak before local, few underscores.
  void Finish();

  size_t size() const { return symbols_.size(); }
  size_t left_out() const { return left_out_; }
  ElfSymbol At(size_t index) const;  // in the order of addresses
  // The function whose code holds the address. Nothing: it is in none, which is better than the
  // nearest one before it.
  std::optional<ElfSymbol> Find(uint64_t address) const;

 private:
  struct Entry {
    uint64_t address = 0, size = 0;
    uint64_t limit = 0;  // the end of its section
    uint32_t name = 0;   // in its table of names
    uint16_t names = 0;  // which of name_tables_
    uint8_t rank = 0;    // of several at one address the highest stays
  };
  void AddTable(const ElfFile& file, const ElfSection& table);
  std::string_view NameOf(const Entry& entry, size_t most) const;
  bool Before(const Entry& a, const Entry& b) const;

  std::vector<Bytes> name_tables_;
  std::vector<Entry> symbols_;
  size_t left_out_ = 0;
  bool knows_all_ = false;  // a .symtab was among them
};

}  // namespace clrscope::symbols
