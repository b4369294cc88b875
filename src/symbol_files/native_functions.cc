// SPDX-License-Identifier: Apache-2.0
#include "symbol_files/native_functions.h"

#include <algorithm>
#include <utility>

#include "base/agent_name.h"
#include "base/utf.h"
#include "symbols/elf/demangle.h"

namespace clrscope::symbol_files {
namespace {

// As UTF-8 without control characters, whatever the file has.
std::string Presentable(std::string name) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!std::all_of(name.begin(), name.end(), is_ascii)) {
    const std::u16string wide = ToUtf16(name);
    name = ToUtf8({reinterpret_cast<const std::byte*>(wide.data()), wide.size()});
  }
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return name;
}

}  // namespace

// A user may have given its file any name; its own (DT_SONAME) stays.
void NativeFunctions::AddImage(ElfParts image) {
  const symbols::ElfFile& elf = image_.emplace(std::move(image)).elf();
  table_.Add(elf);
  if (const symbols::ElfSection* names = elf.Section(".dynstr"))
    is_agent_ = AsText(elf.Data(*names)).find("libclrscope-agent") != std::string_view::npos;
}

void NativeFunctions::AddSymbols(ElfParts symbols) {
  table_.Add(symbols_.emplace_back(std::move(symbols)).elf());
}

void NativeFunctions::AddUnpacked(std::vector<std::byte> symbols) {
  unpacked_.push_back(std::move(symbols));
  if (const auto file = symbols::ElfFile::Parse(unpacked_.back()); file.ok()) table_.Add(*file);
}

std::optional<uint64_t> NativeFunctions::AddressOf(uint64_t offset,
                                                   const MappedFile& mapped) const {
  if (image_) return image_->elf().AddressOfCode(offset);
  // A file of symbols says which addresses code has, but no longer where that lay in the file.
  if (symbols_.empty()) return std::nullopt;
  const auto code = symbols_.front().elf().only_code();
  if (!code || offset < mapped.offset) return std::nullopt;
  constexpr uint64_t kPage = 4096;
  const uint64_t first = code->address / kPage * kPage;
  const uint64_t pages = (code->address - first + code->size + kPage - 1) / kPage;
  if (code->size > ~code->address - kPage || pages * kPage != mapped.size) return std::nullopt;
  return first + (offset - mapped.offset);
}

std::string NativeFunctions::NameAt(uint64_t offset, const MappedFile& mapped) const {
  if (is_agent_) return std::string(kAgentName);
  const auto address = AddressOf(offset, mapped);
  if (!address) return {};
  const auto symbol = table_.Find(*address);
  if (!symbol) return {};
  // "memcpy@@GLIBC_2.14": the version is for linkers.
  std::string name = symbols::Demangle(symbol->name.substr(0, symbol->name.find('@')));
  if (name.size() > kMostName) name.replace(kMostName - 3, std::string::npos, "...");
  return Presentable(std::move(name));
}

uint64_t NativeFunctions::bytes() const {
  constexpr uint64_t kEntry = 40;  // of symbols::SymbolTable
  uint64_t sum = table_.size() * kEntry;
  if (image_) sum += image_->bytes_read();
  for (const ElfParts& s : symbols_) sum += s.bytes_read();
  for (const auto& u : unpacked_) sum += u.size();
  return sum;
}

}  // namespace clrscope::symbol_files
