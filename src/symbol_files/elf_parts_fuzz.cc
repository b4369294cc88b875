// SPDX-License-Identifier: Apache-2.0
// Any bytes as a mapped file whose functions are looked for: what is read of it in parts must be
// what is read of it whole.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "symbol_files/native_functions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace clrscope;
  using namespace clrscope::symbol_files;
  const Bytes bytes = AsBytes(data, size);
  Result<ElfParts> parts = ElfParts::Copy(bytes);
  const Result<symbols::ElfFile> whole = symbols::ElfFile::Parse(bytes);
  if (parts.ok() != whole.ok()) std::abort();
  if (!parts.ok()) return 0;
  if (parts->elf().build_id() != whole->build_id()) std::abort();
  symbols::SymbolTable expected;
  expected.Add(*whole);
  expected.Finish();

  MappedFile mapped;
  mapped.size = 4096;
  NativeFunctions separate, functions;
  if (Result<ElfParts> again = ElfParts::Copy(bytes); again.ok()) separate.AddSymbols(again.Take());
  separate.Finish();
  if (auto packed = parts->elf().UnpackDebugData(); packed.ok())
    functions.AddUnpacked(packed.Take());
  functions.AddImage(parts.Take());
  functions.Finish();
  if (separate.size() != expected.size()) std::abort();
  for (uint64_t offset = 0; offset < size && offset < 4096; offset += 61) {
    (void)functions.NameAt(offset, mapped);
    (void)separate.NameAt(offset, mapped);
  }
  return 0;
}
