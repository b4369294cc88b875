// SPDX-License-Identifier: Apache-2.0
// The tables that SQL over a recording sees: readable names, one row per thing. A new table is one
// row of Tables(). docs/sql.md describes them for users.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "store/query_catalog.h"

namespace clrscope::store {

class TableCursor {
 public:
  virtual ~TableCursor() = default;
  // Goes to the next row, at first to the first one; false at the end.
  virtual Result<bool> Next() = 0;
  // The value in column `column` of this row.
  virtual void Column(int column, sqlite3_context* out) const = 0;
};

struct QueryTable {
  std::string_view name;
  std::string_view about;    // one line for people
  std::string_view columns;  // "a text, b real …" as SQLite wants them
  // Column (hidden) that frames(17) and the like fill in; -1 = no table function.
  int argument = -1;
  std::unique_ptr<TableCursor> (*open)(const Catalog& catalog, std::optional<int64_t> argument);
};
std::span<const QueryTable> QueryTables();

// Makes the tables known to `db`. `catalog` must outlive the connection.
Status RegisterTables(sqlite3* db, const Catalog& catalog);

}  // namespace clrscope::store
