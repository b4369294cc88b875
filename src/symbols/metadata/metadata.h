// SPDX-License-Identifier: Apache-2.0
// .NET metadata, of a module or of a portable PDB: heaps and tables, as views into bytes of others.
// Source: ECMA-335 §II.24; dotnet/runtime docs/design/specs/PortablePdb-Metadata.md
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/byte_reader.h"
#include "base/guid.h"
#include "base/result.h"
#include "symbols/metadata/table_schema.h"
#include "symbols/pdb_id.h"

namespace clrscope::symbols {

// Rows first … end - 1 of a table.
struct RowRange {
  uint32_t first = 1, end = 1;
  uint32_t size() const { return end - first; }
};

// What is out of range or damaged is empty or zero: only Parse() tells of it.
class Metadata {
 public:
  // `bytes` begin with the root ("BSJB"). errors: kCorrupt, kTruncated with the offset
  static Result<Metadata> Parse(Bytes bytes);

  uint32_t RowCount(Table table) const { return rows_[static_cast<size_t>(table)]; }
  // Present in a portable PDB alone.
  const std::optional<PdbId>& pdb_id() const { return pdb_id_; }

  // A cell as it stands: a number, an offset into a heap, an index.
  uint32_t Cell(Table table, uint32_t row, unsigned column) const;
  // Of a column that means a row of a table; 0: nothing.
  Token TokenAt(Table table, uint32_t row, unsigned column) const;
  std::string_view StringAt(Table table, uint32_t row, unsigned column) const {
    return String(Cell(table, row, column));
  }
  Bytes BlobAt(Table table, uint32_t row, unsigned column) const {
    return Blob(Cell(table, row, column));
  }
  Guid GuidAt(Table table, uint32_t row, unsigned column) const {
    return GuidOf(Cell(table, row, column));
  }

  // UTF-8, at most kMostString bytes of it; the runtime loads no type with a name of 1024.
  static constexpr size_t kMostString = 4096;
  std::string_view String(uint32_t offset) const;
  Bytes Blob(uint32_t offset) const;
  Guid GuidOf(uint32_t index) const;
  Utf16View UserString(uint32_t offset) const;

  // The rows of the list that begins in `column`, up to where the next row's begins.
  RowRange List(Table table, uint32_t row, unsigned column) const;
  // The row that position `at` of such a list means: another one in tables that are not in order.
  uint32_t Listed(Table target, uint32_t at) const;
  // The rows whose `column` is `value`. A table that is said to be sorted by it is searched by
  // halves, any other only up to kMostUnsorted rows, to its first match.
  static constexpr uint32_t kMostUnsorted = 64 << 10;
  RowRange Equal(Table table, unsigned column, uint32_t value) const;
  // The last row whose `column` is at most `value`, in a table in the order of it; 0: none.
  uint32_t LastAtMost(Table table, unsigned column, uint32_t value) const;
  // `token` as a coded index stores it in this column; nothing: it cannot.
  std::optional<uint32_t> Coded(Table table, unsigned column, Token token) const;

  const TableLayout& Layout(Table table) const { return layouts_[static_cast<size_t>(table)]; }

 private:
  struct Streams {
    Bytes tables, pdb;
    bool wide = false;
  };
  Result<Streams> ReadStreams(Bytes bytes);
  Status ReadPdb(Bytes bytes, std::array<uint32_t, kTableCount>& rows);
  Status ReadTables(const Streams& streams);

  Bytes strings_, user_strings_, guids_, blobs_;
  std::array<uint32_t, kTableCount> rows_{};
  std::array<TableLayout, kTableCount> layouts_;
  std::array<Bytes, kTableCount> tables_;
  uint64_t sorted_ = 0;
  std::optional<PdbId> pdb_id_;
};

}  // namespace clrscope::symbols
