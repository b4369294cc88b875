// SPDX-License-Identifier: Apache-2.0
// The glue between QueryTables() and SQLite's eponymous virtual tables.
// Source: https://www.sqlite.org/vtab.html
#include <fmt/format.h>

#include <new>
#include <string>

#include "store/query_tables.h"

namespace clrscope::store {
namespace {

struct Module {
  const QueryTable* table;
  const Catalog* catalog;
};

struct Table : sqlite3_vtab {
  const Module* module = nullptr;
};

struct Cursor : sqlite3_vtab_cursor {
  std::unique_ptr<TableCursor> rows;
  sqlite3_int64 row_id = 0;
  bool end = false;
};

// Nothing may be thrown through SQLite's frames.
template <class F>
int Guard(F&& f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (...) {
    return SQLITE_ERROR;
  }
}

int Connect(sqlite3* db, void* aux, int, const char* const*, sqlite3_vtab** out, char**) {
  return Guard([&] {
    const auto* module = static_cast<const Module*>(aux);
    const std::string sql = fmt::format("create table x({})", module->table->columns);
    if (const int rc = sqlite3_declare_vtab(db, sql.c_str()); rc != SQLITE_OK) return rc;
    auto* table = new Table();
    table->module = module;
    *out = table;
    return SQLITE_OK;
  });
}

int Disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

int BestIndex(sqlite3_vtab* vtab, sqlite3_index_info* info) {
  const QueryTable& table = *static_cast<Table*>(vtab)->module->table;
  info->estimatedCost = 1e6;
  info->estimatedRows = 1'000'000;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (table.argument < 0 || constraint.iColumn != table.argument ||
        constraint.op != SQLITE_INDEX_CONSTRAINT_EQ)
      continue;
    if (constraint.usable == 0) return SQLITE_CONSTRAINT;  // another order of the join supplies it
    info->aConstraintUsage[i].argvIndex = 1;
    info->aConstraintUsage[i].omit = 1;
    info->idxNum = 1;
    info->estimatedCost = 50;
    info->estimatedRows = 50;
    break;
  }
  return SQLITE_OK;
}

int Open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  return Guard([&] {
    *out = new Cursor();
    return SQLITE_OK;
  });
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* base) {
  return Guard([&] {
    auto* cursor = static_cast<Cursor*>(base);
    ++cursor->row_id;
    Result<bool> row = cursor->rows->Next();
    if (!row.ok()) {
      sqlite3_free(base->pVtab->zErrMsg);
      base->pVtab->zErrMsg = sqlite3_mprintf("%s", row.error().message.c_str());
      return SQLITE_CORRUPT_VTAB;
    }
    cursor->end = !*row;
    return SQLITE_OK;
  });
}

int Filter(sqlite3_vtab_cursor* base, int index, const char*, int, sqlite3_value** values) {
  const int rc = Guard([&] {
    auto* cursor = static_cast<Cursor*>(base);
    const Module& module = *static_cast<Table*>(base->pVtab)->module;
    std::optional<int64_t> argument;
    if (index == 1) argument = sqlite3_value_int64(values[0]);
    cursor->row_id = 0;
    cursor->rows = module.table->open(*module.catalog, argument);
    return SQLITE_OK;
  });
  return rc == SQLITE_OK ? Next(base) : rc;
}

int Eof(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->end ? 1 : 0; }

int Column(sqlite3_vtab_cursor* cursor, sqlite3_context* out, int column) {
  return Guard([&] {
    static_cast<Cursor*>(cursor)->rows->Column(column, out);
    return SQLITE_OK;
  });
}

int RowId(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  *out = static_cast<Cursor*>(cursor)->row_id;
  return SQLITE_OK;
}

const sqlite3_module* TheModule() {
  static const sqlite3_module module = [] {
    sqlite3_module m{};  // without xCreate: the tables exist by their name alone
    m.xConnect = Connect;
    m.xDisconnect = Disconnect;
    m.xBestIndex = BestIndex;
    m.xOpen = Open;
    m.xClose = Close;
    m.xFilter = Filter;
    m.xNext = Next;
    m.xEof = Eof;
    m.xColumn = Column;
    m.xRowid = RowId;
    return m;
  }();
  return &module;
}

}  // namespace

Status RegisterTables(sqlite3* db, const Catalog& catalog) {
  for (const QueryTable& table : QueryTables()) {
    auto* module = new Module{&table, &catalog};
    const int rc =
        sqlite3_create_module_v2(db, std::string(table.name).c_str(), TheModule(), module,
                                 [](void* m) { delete static_cast<Module*>(m); });
    if (rc != SQLITE_OK)
      return Error{ErrorCode::kFailed,
                   fmt::format("cannot make the table {}: {}", table.name, sqlite3_errmsg(db))};
  }
  return OkStatus();
}

}  // namespace clrscope::store
