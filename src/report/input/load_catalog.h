// SPDX-License-Identifier: Apache-2.0
// A recording for SQL, from a file of any kind that clrscope reads.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "store/query_catalog.h"

namespace clrscope::report {

struct LoadedCatalog {
  std::unique_ptr<store::Catalog> catalog;
  std::optional<Error> damage;  // of the input; everything before it is there
};

// "-": a nettrace on standard input
Result<LoadedCatalog> LoadCatalog(const std::string& path);

}  // namespace clrscope::report
