// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/query.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "base/hex.h"
#include "cli/options/options.h"
#include "cli/terminal/output.h"
#include "report/input/load_catalog.h"
#include "report/text/shorten.h"
#include "report/text/text_table.h"
#include "report/text/wrap.h"
#include "store/query.h"
#include "store/query_tables.h"

namespace clrscope::cli {
namespace {

report::Json Value(sqlite3_stmt* row, int column) {
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(row, column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(row, column);
    case SQLITE_TEXT:
      return std::string(reinterpret_cast<const char*>(sqlite3_column_text(row, column)),
                         static_cast<size_t>(sqlite3_column_bytes(row, column)));
    case SQLITE_BLOB:
      return HexText(AsBytes(sqlite3_column_blob(row, column),
                             static_cast<size_t>(sqlite3_column_bytes(row, column))));
    default:
      return nullptr;
  }
}

std::string Cell(const report::Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  const double v = value.get<double>();
  return std::abs(v) >= 1000 ? fmt::format("{:.0f}", v) : fmt::format("{:.6g}", v);
}

// Calls visit(values) for each row. Returns how many there were.
template <class Visit>
Result<size_t> ForEachRow(store::Statement& rows, Visit visit) {
  const int columns = sqlite3_column_count(rows.raw());
  std::vector<report::Json> values(static_cast<size_t>(columns));
  for (size_t n = 0;; ++n) {
    ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return n;
    for (int c = 0; c < columns; ++c) values[static_cast<size_t>(c)] = Value(rows.raw(), c);
    visit(values);
  }
}

Result<size_t> WriteJson(store::Statement& rows, const std::vector<std::string>& names,
                         Output& out) {
  JsonDocument document(out, report::Json{{"schema_version", 1}, {"columns", names}});
  ASSIGN_OR_RETURN(const size_t n, ForEachRow(rows, [&](const std::vector<report::Json>& values) {
                     report::Json row = report::Json::object();
                     for (size_t c = 0; c < names.size(); ++c) row[names[c]] = values[c];
                     document.Row(row);
                   }));
  document.End();
  return n;
}

Result<size_t> WriteCsv(store::Statement& rows, const std::vector<std::string>& names,
                        Output& out) {
  out.Write(report::CsvLine(names));
  return ForEachRow(rows, [&](const std::vector<report::Json>& values) {
    std::vector<std::string> cells;
    for (const report::Json& v : values)
      cells.push_back(v.is_null() ? "" : v.is_string() ? v.get<std::string>() : v.dump());
    out.Write(report::CsvLine(cells));
  });
}

Result<size_t> WriteText(store::Statement& rows, const std::vector<std::string>& names,
                         const report::Style& style, Output& out) {
  std::vector<report::TextColumn> columns;
  for (const std::string& name : names)
    columns.push_back({name, report::Align::kRight, report::TextColumn::Fit::kFixed});
  std::vector<std::vector<std::string>> lines;
  ASSIGN_OR_RETURN(
      const size_t n, ForEachRow(rows, [&](const std::vector<report::Json>& values) {
        std::vector<std::string>& line = lines.emplace_back();
        for (size_t c = 0; c < values.size(); ++c) {
          if (values[c].is_string())
            columns[c] = {names[c], report::Align::kLeft, report::TextColumn::Fit::kName};
          line.push_back(Cell(values[c]));
        }
      }));
  if (n == 0) return n;
  report::TextTable table(columns);
  for (auto& line : lines) table.Add(std::move(line));
  // Whoever pipes a table into grep wants whole names.
  const bool whole = !IsTerminal(STDOUT_FILENO) && std::getenv("COLUMNS") == nullptr;
  out.Write(table.Render(whole ? 100'000 : OutputWidth(), style));
  return n;
}

void WriteTables(const report::Style& style, Output& out) {
  const size_t width = OutputWidth();
  for (const store::QueryTable& table : store::QueryTables()) {
    std::string columns;  // without their types, and without the hidden argument
    std::string_view rest = table.columns;
    while (!rest.empty()) {
      const size_t comma = rest.find(", ");
      const std::string_view column = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 2);
      if (!column.ends_with(" hidden"))
        columns += (columns.empty() ? "" : ", ") + std::string(column.substr(0, column.find(' ')));
    }
    out.Write(style.Bold(table.name) + "  ");
    out.Write(report::Wrap(table.about, table.name.size() + 2, 4, width) + "    " +
              report::Wrap(columns, 4, 4, width));
  }
}

}  // namespace

int RunQuery(const Args& args) {
  FormatOptions format;
  ColorMode color = ColorMode::kAuto;
  std::string path, sql;
  report::SymbolOptions symbols;
  VerbOptions verb("query", "FILE [SQL] [options]",
                   "Queries a recording in SQL (SQLite). Without SQL it lists the tables and their "
                   "columns; docs/sql.md explains them.",
                   "  clrscope query orders.clrscope 'select type, sum(bytes) from samples group "
                   "by type order by 2 desc limit 10'\n"
                   "  clrscope query orders.clrscope 'select method, type, bytes, bytes_low, "
                   "bytes_high from sites limit 10'\n"
                   "  clrscope query orders.clrscope 'select * from frames(42)'\n");
  verb.Add("file", path, "a .clrscope, .nettrace or .nettrace.gz file").Value("FILE").Required();
  verb.Add("sql", sql, "one read-only statement").Value("SQL");
  AddFormatOptions(verb, format);
  AddColorOption(verb, color);
  AddSymbolOptions(verb, symbols);
  if (const auto code = verb.Parse(args)) return *code;
  const report::Style style = StyleFor(color);
  Output out;
  if (sql.empty()) {
    WriteTables(style, out);
    return kExitOk;
  }
  auto loaded = report::LoadCatalog(path, symbols);
  if (!loaded.ok()) return Fail(loaded.error());
  WarnAll(loaded->notes);
  auto query = store::Query::Open(std::move(loaded->catalog));
  if (!query.ok()) return Fail(query.error());
  auto rows = (*query)->Prepare(sql);
  if (!rows.ok()) return Fail(rows.error());
  std::vector<std::string> names;
  for (int c = 0; c < sqlite3_column_count(rows->raw()); ++c)
    names.emplace_back(sqlite3_column_name(rows->raw(), c));
  const Result<size_t> n = format.json  ? WriteJson(*rows, names, out)
                           : format.csv ? WriteCsv(*rows, names, out)
                                        : WriteText(*rows, names, style, out);
  if (!n.ok()) return Fail(n.error());
  if (Status status = out.Flush(); !status.ok()) return Fail(status.error());
  if (loaded->damage) {
    Warn(loaded->damage->message);
    return kExitIncomplete;
  }
  return *n == 0 ? Fail({ErrorCode::kEmpty, "no row matches"}) : kExitOk;
}

}  // namespace clrscope::cli
