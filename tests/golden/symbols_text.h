// SPDX-License-Identifier: Apache-2.0
// What src/symbols reads of an assembly and its PDB, as text: a line a fact.
#pragma once

#include <string>

#include "base/byte_reader.h"
#include "base/result.h"

namespace clrscope::golden {

// `pdb` empty: the embedded one, if there is one. Equal to what symbols/oracle/Program.cs prints.
Result<std::string> SymbolsText(Bytes assembly, Bytes pdb);

}  // namespace clrscope::golden
