// SPDX-License-Identifier: Apache-2.0
// A thin owner around SQLite: handles that close themselves, errors with the file's name.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/byte_reader.h"
#include "base/result.h"

namespace clrscope::store {

// What a column holds of an unsigned number: its bits.
inline int64_t Signed(uint64_t v) { return static_cast<int64_t>(v); }
// A blob of what lies in a string; a string as such is text.
inline Bytes BytesOf(const std::string& s) { return AsBytes(s.data(), s.size()); }

class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* s) : stmt_(s) {}

  // Parameters and columns count from 0.
  Statement& Bind(int i, int64_t v);
  Statement& Bind(int i, std::string_view v);
  Statement& Bind(int i, Bytes blob);
  // A row is there (true), the end (false), or an error.
  Result<bool> Step();
  // Runs to the end and makes the statement ready to be bound again.
  Status Run();
  void Reset();

  int64_t Int(int i) const { return sqlite3_column_int64(stmt_.get(), i); }
  std::string_view Text(int i) const;
  Bytes Blob(int i) const;
  sqlite3_stmt* raw() const { return stmt_.get(); }

 private:
  struct Close {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  std::unique_ptr<sqlite3_stmt, Close> stmt_;
};

class Database {
 public:
  enum class Mode { kCreate, kReadWrite, kReadOnly };
  static Result<Database> Open(const std::string& path, Mode mode);
  static Result<Database> OpenMemory();
  // In one piece of memory, which Image() shows: at most 1 GB, SQLite's own limit of such a
  // database.
  static Result<Database> OpenImage();
  // The database file as it would lie on a disk; of OpenImage(), between transactions, valid until
  // the next statement.
  Bytes Image() const;

  Status Execute(const char* sql);
  Result<Statement> Prepare(std::string_view sql);
  sqlite3* raw() const { return db_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  std::unique_ptr<sqlite3, Close> db_;
  std::string path_;
};

}  // namespace clrscope::store
