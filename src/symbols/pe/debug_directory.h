// SPDX-License-Identifier: Apache-2.0
// What an assembly says of its symbols: which PDB is its own, and perhaps that PDB itself.
// Source: dotnet/runtime docs/design/specs/PE-COFF.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/guid.h"
#include "base/result.h"
#include "symbols/pdb_id.h"
#include "symbols/pe/pe_image.h"

namespace clrscope::symbols {

// One PDB: the assembly's, or that of its precompiled code.
struct CodeView {
  PdbId id;
  uint32_t age = 0;
  bool portable = false;  // else a Windows PDB
  std::string_view path;  // where the compiler put it: UTF-8
};

struct PdbChecksum {
  std::string_view algorithm;  // "SHA256"
  Bytes value;                 // of the PDB's bytes, its id set to zero
};

struct EmbeddedPdb {
  Bytes deflated;     // empty: there is none
  uint32_t size = 0;  // unpacked
};

struct DebugDirectory {
  std::vector<CodeView> code_views;
  std::vector<PdbChecksum> checksums;
  EmbeddedPdb embedded;
  bool reproducible = false;  // stamps are hashes, not times

  // That of the portable PDB if there is one, else the first; null: none.
  const CodeView* ManagedPdb() const;
};

// Entries that are damaged or of other kinds are passed over. errors: kTruncated
Result<DebugDirectory> ReadDebugDirectory(const PeImage& image);
// Where the data of its entries lie in the image, for who reads only parts of a file.
// errors: kTruncated
Result<std::vector<Bytes>> DebugDataOf(const PeImage& image);

// errors: kNotFound when there is none; as Inflate()
Result<std::vector<std::byte>> UnpackEmbeddedPdb(const EmbeddedPdb& embedded);

}  // namespace clrscope::symbols
