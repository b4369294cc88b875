// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf/symbol_table.h"

#include <elf.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace clrscope::symbols {
namespace {

constexpr size_t kMostSymbolName = 64 << 10;
// Of names that are compared, which a damaged file may have very many and very long ones of.
constexpr size_t kMostCompared = 128;
// Functions whose code lies within that of another one: a few, in hand-written assembly.
constexpr int kMostEnclosing = 16;

// Of several symbols with one address; 0: it is no function.
uint8_t RankOf(const Elf64_Sym& symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info), binding = ELF64_ST_BIND(symbol.st_info);
  if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) return 0;
  const unsigned bound = binding == STB_GLOBAL ? 3 : binding == STB_WEAK ? 2 : 1;
  return static_cast<uint8_t>((symbol.st_size != 0 ? 8u : 0u) + (type != STT_NOTYPE ? 4u : 0u) +
                              bound);
}

size_t Underscores(std::string_view name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

}  // namespace

void SymbolTable::Add(const ElfFile& file) {
  // A file has at most one of each.
  for (const uint32_t type : {uint32_t{SHT_SYMTAB}, uint32_t{SHT_DYNSYM}}) {
    const auto table =
        std::find_if(file.sections().begin(), file.sections().end(),
                     [type](const ElfSection& section) { return section.type == type; });
    if (table != file.sections().end()) AddTable(file, *table);
  }
}

void SymbolTable::AddTable(const ElfFile& file, const ElfSection& table) {
  const auto& sections = file.sections();
  if (table.link >= sections.size() || name_tables_.size() > std::numeric_limits<uint16_t>::max())
    return;
  const Bytes names = file.Data(sections[table.link]), data = file.Data(table);
  const auto names_index = static_cast<uint16_t>(name_tables_.size());
  name_tables_.push_back(names);
  knows_all_ = knows_all_ || table.type == SHT_SYMTAB;
  for (size_t at = 0; data.size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
    const auto symbol = LoadAt<Elf64_Sym>(data.data() + at);
    const uint8_t rank = RankOf(symbol);
    if (rank == 0 || symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections.size() ||
        symbol.st_name >= names.size() || names[symbol.st_name] == std::byte{0})
      continue;
    const ElfSection& section = sections[symbol.st_shndx];
    if ((section.flags & SHF_EXECINSTR) == 0 || symbol.st_value < section.address ||
        symbol.st_value - section.address >= section.size || section.size > ~section.address)
      continue;
    // $x and $d of arm64 mark code and data.
    if (ELF64_ST_TYPE(symbol.st_info) == STT_NOTYPE && names[symbol.st_name] == std::byte{'$'})
      continue;
    if (symbols_.size() >= kMostSymbols) {
      ++left_out_;
      continue;
    }
    const uint64_t left = section.size - (symbol.st_value - section.address);
    symbols_.push_back({symbol.st_value, std::min(symbol.st_size, left), symbol.st_value + left,
                        symbol.st_name, names_index, rank});
  }
}

std::string_view SymbolTable::NameOf(const Entry& entry, size_t most) const {
  const std::string_view text = AsText(name_tables_[entry.names]).substr(entry.name, most);
  return text.substr(0, text.find('\0'));
}

bool SymbolTable::Before(const Entry& a, const Entry& b) const {
  if (a.address != b.address) return a.address < b.address;
  if (a.rank != b.rank) return a.rank > b.rank;
  const std::string_view x = NameOf(a, kMostCompared), y = NameOf(b, kMostCompared);
  return std::tuple(Underscores(x), x.size(), x) < std::tuple(Underscores(y), y.size(), y);
}

void SymbolTable::Finish() {
  std::sort(symbols_.begin(), symbols_.end(),
            [this](const Entry& a, const Entry& b) { return Before(a, b); });
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                             [](const Entry& a, const Entry& b) { return a.address == b.address; }),
                 symbols_.end());
  // Labels within a function, as assembly has, are not functions.
  uint64_t covered = 0;
  std::erase_if(symbols_, [&covered](const Entry& entry) {
    covered = std::max(covered, entry.address + entry.size);
    return entry.size == 0 && entry.address < covered;
  });
  // What has no size ends where the next begins, where that is known: between functions that others
  // may call lie those that they may not.
  for (size_t i = 0; i < symbols_.size(); ++i) {
    Entry& entry = symbols_[i];
    if (entry.size != 0) continue;
    const uint64_t next = i + 1 < symbols_.size() ? symbols_[i + 1].address : entry.limit;
    entry.size = knows_all_ ? std::min(next, entry.limit) - entry.address : 1;
  }
  symbols_.shrink_to_fit();
}

ElfSymbol SymbolTable::At(size_t index) const {
  const Entry& entry = symbols_[index];
  return {entry.address, entry.size, NameOf(entry, kMostSymbolName)};
}

std::optional<ElfSymbol> SymbolTable::Find(uint64_t address) const {
  const auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](uint64_t value, const Entry& entry) { return value < entry.address; });
  auto at = static_cast<size_t>(after - symbols_.begin());
  for (int i = 0; i < kMostEnclosing && at != 0; ++i)
    if (const Entry& entry = symbols_[--at]; address - entry.address < entry.size) return At(at);
  return std::nullopt;
}

}  // namespace clrscope::symbols
