// SPDX-License-Identifier: Apache-2.0
// What ties a module to its portable PDB: 20 bytes that both hold.
// Source: dotnet/runtime docs/design/specs/PE-COFF.md (CodeView), PortablePdb-Metadata.md (#Pdb)
#pragma once

#include <cstdint>
#include <string>

#include "base/guid.h"

namespace clrscope::symbols {

struct PdbId {
  Guid guid{};
  uint32_t stamp = 0;  // of the CodeView entry of the debug directory
  bool operator==(const PdbId&) const = default;
};

// What a portable PDB's folder is called on symbol servers and in their caches.
// Source: dotnet/symstore docs/specs/SSQP_Key_Conventions.md
inline std::string PortablePdbKey(const Guid& guid) { return GuidKey(guid) + "FFFFFFFF"; }

}  // namespace clrscope::symbols
