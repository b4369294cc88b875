// SPDX-License-Identifier: Apache-2.0
#include "store/leftover.h"

#include <fmt/format.h>

#include "store/schema.h"
#include "store/sqlite.h"

namespace clrscope::store {
namespace {

Result<CaptureSpan> SpanOf(Database& db, const std::string& path) {
  ASSIGN_OR_RETURN(Statement id, db.Prepare("pragma application_id"));
  ASSIGN_OR_RETURN(const bool has_id, id.Step());
  if (has_id && id.Int(0) == 0) {
    ASSIGN_OR_RETURN(Statement tables, db.Prepare("select count(*) from sqlite_schema"));
    ASSIGN_OR_RETURN(const bool counted, tables.Step());
    if (counted && tables.Int(0) == 0)
      return Error{ErrorCode::kEmpty, fmt::format("{}: nothing was written into it", path)};
  }
  if (!has_id || id.Int(0) != kApplicationId)
    return Error{ErrorCode::kCorrupt, fmt::format("{}: not a clrscope capture", path)};
  CaptureSpan span;
  ASSIGN_OR_RETURN(Statement meta, db.Prepare("select key,value from meta"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, meta.Step());
    if (!row) return span;
    if (meta.Text(0) == "start_unix_ns") span.start_unix_ns = meta.Int(1);
    if (meta.Text(0) == "end_ns") span.length_ns = meta.Int(1);
    if (meta.Text(0) == "complete") span.complete = meta.Int(1) != 0;
  }
}

}  // namespace

Result<CaptureSpan> ReadSpan(const std::string& path) {
  ASSIGN_OR_RETURN(Database db, Database::Open(path, Database::Mode::kReadOnly));
  return SpanOf(db, path);
}

Result<CaptureSpan> CloseLeftover(const std::string& path) {
  ASSIGN_OR_RETURN(Database db, Database::Open(path, Database::Mode::kReadWrite));
  Result<CaptureSpan> span = SpanOf(db, path);
  if (span.ok())
    RETURN_IF_ERROR(db.Execute("pragma wal_checkpoint(truncate); pragma journal_mode=delete"));
  return span;
}

}  // namespace clrscope::store
