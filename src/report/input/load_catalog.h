// SPDX-License-Identifier: Apache-2.0
// A recording for SQL, from a file of any kind that clrscope reads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/input/symbols.h"
#include "store/query_catalog.h"

namespace clrscope::report {

struct LoadedCatalog {
  std::unique_ptr<store::Catalog> catalog;
  std::optional<Error> damage;     // of the input; everything before it is there
  std::vector<std::string> notes;  // what else the user should know
};

// "-": a nettrace on standard input; `symbols`: of captures
Result<LoadedCatalog> LoadCatalog(const std::string& path, const SymbolOptions& symbols = {});

}  // namespace clrscope::report
