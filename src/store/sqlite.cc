// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <optional>
#include <utility>

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

// What went wrong, where SQLite's own words ("disk I/O error") do not tell what to do.
std::string Words(sqlite3* db) {
  if (sqlite3_extended_errcode(db) == SQLITE_IOERR_GETTEMPPATH)
    return "this needs a temporary file, and there is no folder to write it into; name one by "
           "TMPDIR";
  return sqlite3_errmsg(db);
}

// Why no file can be made at `path`, which SQLite does not tell; nothing when it cannot be seen.
std::optional<Error> WhyNotCreated(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::access(folder.c_str(), W_OK) == 0) return std::nullopt;
  return Error{errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kPermission,
               fmt::format("cannot create {}: {}", path, strerror(errno))};
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
  return Error{
      CodeOf(rc),
      fmt::format("{}: {}", file != nullptr && *file != '\0' ? file : "database", Words(db))};
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
  if (rc != SQLITE_OK) {
    if (mode == Mode::kCreate)
      if (auto why = WhyNotCreated(path)) return *std::move(why);
    return Error{CodeOf(rc), fmt::format("cannot open {}: {}", path, sqlite3_errmsg(raw))};
  }
  sqlite3_busy_timeout(raw, 2000);
  return db;
}

Result<Database> Database::OpenMemory() { return Open(":memory:", Mode::kCreate); }

Result<Database> Database::OpenImage() {
  Database db;
  db.path_ = "the capture in memory";
  sqlite3* raw = nullptr;
  // sqlite.org/inmemorydb.html: a name without a slash belongs to this connection alone.
  const int rc =
      sqlite3_open_v2("file:image?vfs=memdb", &raw,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, nullptr);
  db.db_.reset(raw);
  if (rc != SQLITE_OK)
    return Error{CodeOf(rc), fmt::format("cannot open {}: {}", db.path_, sqlite3_errmsg(raw))};
  return db;
}

Bytes Database::Image() const {
  sqlite3_int64 size = 0;
  const unsigned char* data = sqlite3_serialize(db_.get(), "main", &size, SQLITE_SERIALIZE_NOCOPY);
  return AsBytes(data, data == nullptr ? 0 : static_cast<size_t>(size));
}

Status Database::Execute(const char* sql) {
  if (const int rc = sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr); rc != SQLITE_OK)
    return Error{CodeOf(rc), fmt::format("{}: {}", path_, Words(db_.get()))};
  return OkStatus();
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* stmt = nullptr;
  const int rc =
      sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &stmt, nullptr);
  if (rc != SQLITE_OK) return Error{CodeOf(rc), fmt::format("{}: {}", path_, Words(db_.get()))};
  return Statement(stmt);
}

}  // namespace clrscope::store
