// SPDX-License-Identifier: Apache-2.0
// Any bytes as an ELF file: its symbols, packed ones too, and where others are. Of bytes that are
// none, as the name of a C++ function.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "symbols/elf/demangle.h"
#include "symbols/elf/elf_file.h"
#include "symbols/elf/symbol_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace clrscope;
  using namespace clrscope::symbols;
  const Bytes bytes = AsBytes(data, size);
  const Result<ElfFile> file = ElfFile::Parse(bytes);
  if (!file.ok()) {
    (void)Demangle(AsText(bytes));
    return 0;
  }
  (void)file->build_id();
  (void)file->debug_link();
  (void)file->AddressOfCode(0x1000);
  SymbolTable table;
  table.Add(*file);
  const auto packed = file->UnpackDebugData();
  if (packed.ok())
    if (const auto more = ElfFile::Parse(*packed); more.ok()) table.Add(*more);
  table.Finish();
  for (size_t i = 0; i < std::min(table.size(), size_t{50}); ++i)
    (void)table.Find(table.At(i).address + table.At(i).size / 2);
  return 0;
}
