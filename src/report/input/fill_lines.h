// SPDX-License-Identifier: Apache-2.0
// Source lines of a recording that is read: those that it holds, and what modules and PDBs of this
// machine, of folders, or of a symbol server, add.
#pragma once

#include <string>
#include <vector>

#include "profile/tables/process_tables.h"
#include "report/input/symbols.h"

namespace clrscope::report {

// Returns sentences about what has no lines, and why.
std::vector<std::string> FillLines(const SymbolSources& sources, profile::Recording& recording);

}  // namespace clrscope::report
