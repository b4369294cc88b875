// SPDX-License-Identifier: Apache-2.0
#include "store/query.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "store/query_tables.h"

namespace clrscope::store {
namespace {

// Reading, and nothing else: no writes, no other files, no extensions, no settings.
int Authorize(void*, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second != nullptr && std::strcmp(second, "load_extension") == 0 ? SQLITE_DENY
                                                                             : SQLITE_OK;
    case SQLITE_PRAGMA: {
      const std::string_view pragma = first == nullptr ? "" : first;
      const bool reads =
          pragma == "table_info" || pragma == "table_xinfo" || pragma == "table_list";
      return reads ? SQLITE_OK : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

bool IsBlank(const char* text) {
  for (; *text != '\0'; ++text)
    if (std::strchr(" \t\r\n;", *text) == nullptr) return false;
  return true;
}

}  // namespace

sqlite3* Query::raw() const { return memory_ ? memory_->raw() : catalog_->database()->raw(); }

Result<std::unique_ptr<Query>> Query::Open(std::unique_ptr<Catalog> catalog) {
  std::unique_ptr<Query> query(new Query(std::move(catalog)));
  if (query->catalog_->database() == nullptr) {
    ASSIGN_OR_RETURN(query->memory_, Database::OpenMemory());
  }
  RETURN_IF_ERROR(RegisterTables(query->raw(), *query->catalog_));
  // SQLite makes a table known at its first use, which the authorizer would take for a creation.
  for (const QueryTable& table : QueryTables())
    sqlite3_exec(query->raw(), fmt::format("select 1 from {} limit 0", table.name).c_str(), nullptr,
                 nullptr, nullptr);
  sqlite3_db_config(query->raw(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_set_authorizer(query->raw(), Authorize, nullptr);
  return query;
}

Result<Statement> Query::Prepare(const std::string& sql) {
  sqlite3_stmt* raw_statement = nullptr;
  const char* rest = nullptr;
  const int rc = sqlite3_prepare_v2(raw(), sql.c_str(), static_cast<int>(sql.size()) + 1,
                                    &raw_statement, &rest);
  Statement statement(raw_statement);
  if (rc == SQLITE_AUTH)
    return Error{ErrorCode::kUsage,
                 "a query may only read the recording: this statement would do something else"};
  if (rc != SQLITE_OK) {
    const std::string what = sqlite3_errmsg(raw());
    const int at = sqlite3_error_offset(raw());
    const bool name = what.find("no such table") != std::string::npos ||
                      what.find("no such column") != std::string::npos;
    return Error{
        ErrorCode::kUsage,
        fmt::format(
            "{}{}{}", what, at < 0 ? "" : fmt::format(" (at character {} of the query)", at + 1),
            name ? "; without a query, `clrscope query FILE` lists tables and columns" : "")};
  }
  if (raw_statement == nullptr) return Error{ErrorCode::kUsage, "the query is empty"};
  if (!IsBlank(rest))
    return Error{ErrorCode::kUsage,
                 fmt::format("one statement at a time; after the first comes: {}", rest)};
  if (sqlite3_stmt_readonly(raw_statement) == 0)
    return Error{ErrorCode::kUsage,
                 "a query may only read the recording: this statement would change it"};
  return statement;
}

}  // namespace clrscope::store
