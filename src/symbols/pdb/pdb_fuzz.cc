// SPDX-License-Identifier: Apache-2.0
// Any bytes as a PDB: its documents, their texts, and the lines of its methods.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "symbols/pdb/portable_pdb.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace clrscope;
  using namespace clrscope::symbols;
  const Result<PortablePdb> pdb = PortablePdb::Parse(AsBytes(data, size));
  if (!pdb.ok()) return 0;
  (void)pdb->source_link();
  for (uint32_t row = 1; row <= std::min(pdb->document_count(), 20u); ++row) {
    (void)pdb->Document(row);
    (void)pdb->EmbeddedSource(row);
  }
  const uint32_t methods = pdb->metadata().RowCount(Table::kMethodDebugInformation);
  for (uint32_t row = 1; row <= std::min(methods, 50u); ++row) {
    (void)pdb->SequencePointsOf(TokenOf(Table::kMethodDef, row));
    (void)pdb->KickoffOf(TokenOf(Table::kMethodDef, row));
  }
  return 0;
}
