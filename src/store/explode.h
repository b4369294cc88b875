// SPDX-License-Identifier: Apache-2.0
// A recording as an ordinary SQLite database of plain rows, for other tools. docs/sql.md describes
// its tables and views.
#pragma once

#include <string>

#include "store/query_catalog.h"

namespace clrscope::store {

// Creates `path`, which must not exist.
Status Explode(const Catalog& catalog, const std::string& path);

}  // namespace clrscope::store
