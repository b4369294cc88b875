// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite.h"

#include <fmt/format.h>

namespace clrscope::store {
namespace {

ErrorCode CodeOf(int sqlite_code) {
  switch (sqlite_code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return ErrorCode::kCorrupt;
    case SQLITE_CANTOPEN:
      return ErrorCode::kNotFound;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return ErrorCode::kPermission;
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return ErrorCode::kIo;
    case SQLITE_ERROR:
      return ErrorCode::kUsage;
    default:
      return ErrorCode::kFailed;
  }
}

}  // namespace

Statement& Statement::Bind(int i, int64_t v) {
  sqlite3_bind_int64(stmt_.get(), i + 1, v);
  return *this;
}

Statement& Statement::Bind(int i, std::string_view v) {
  sqlite3_bind_text64(stmt_.get(), i + 1, v.data() == nullptr ? "" : v.data(), v.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::Bind(int i, Bytes blob) {
  sqlite3_bind_blob64(stmt_.get(), i + 1,
                      blob.data() == nullptr ? static_cast<const void*>("") : blob.data(),
                      blob.size(), SQLITE_TRANSIENT);
  return *this;
}

Result<bool> Statement::Step() {
  const int rc = sqlite3_step(stmt_.get());
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) return false;
  sqlite3* db = sqlite3_db_handle(stmt_.get());
  const char* file = sqlite3_db_filename(db, "main");
  return Error{CodeOf(rc),
               fmt::format("{}: {}", file != nullptr && *file != '\0' ? file : "database",
                           sqlite3_errmsg(db))};
}

Status Statement::Run() {
  for (;;) {
    Result<bool> row = Step();
    if (!row.ok()) {
      Reset();
      return row.error();
    }
    if (!*row) break;
  }
  Reset();
  return OkStatus();
}

void Statement::Reset() {
  sqlite3_reset(stmt_.get());
  sqlite3_clear_bindings(stmt_.get());
}

std::string_view Statement::Text(int i) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(stmt_.get(), i));
  return text == nullptr
             ? std::string_view{}
             : std::string_view(text, static_cast<size_t>(sqlite3_column_bytes(stmt_.get(), i)));
}

Bytes Statement::Blob(int i) const {
  const void* data = sqlite3_column_blob(stmt_.get(), i);
  return AsBytes(data, static_cast<size_t>(sqlite3_column_bytes(stmt_.get(), i)));
}

Result<Database> Database::Open(const std::string& path, Mode mode) {
  Database db;
  db.path_ = path;
  sqlite3* raw = nullptr;
  const int flags = mode == Mode::kReadOnly    ? SQLITE_OPEN_READONLY
                    : mode == Mode::kReadWrite ? SQLITE_OPEN_READWRITE
                                               : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int rc = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  db.db_.reset(raw);
  if (rc != SQLITE_OK)
    return Error{CodeOf(rc), fmt::format("cannot open {}: {}", path, sqlite3_errmsg(raw))};
  sqlite3_busy_timeout(raw, 2000);
  return db;
}

Result<Database> Database::OpenMemory() { return Open(":memory:", Mode::kCreate); }

Status Database::Execute(const char* sql) {
  if (const int rc = sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr); rc != SQLITE_OK)
    return Error{CodeOf(rc), fmt::format("{}: {}", path_, sqlite3_errmsg(db_.get()))};
  return OkStatus();
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* stmt = nullptr;
  const int rc =
      sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &stmt, nullptr);
  if (rc != SQLITE_OK)
    return Error{CodeOf(rc), fmt::format("{}: {}", path_, sqlite3_errmsg(db_.get()))};
  return Statement(stmt);
}

}  // namespace clrscope::store
