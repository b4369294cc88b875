// SPDX-License-Identifier: Apache-2.0
#include "symbols/metadata/metadata.h"

#include <algorithm>
#include <string>

#include "base/hex.h"
#include "symbols/metadata/compressed.h"

namespace clrscope::symbols {
namespace {

constexpr uint32_t kRootSignature = 0x424a5342;  // "BSJB"
constexpr uint32_t kMostVersionBytes = 256;

Error BadMetadata(ErrorCode code, size_t offset, const std::string& what) {
  return Error::At(code, offset, "the metadata " + what);
}

// A stream's name: up to a NUL, padded to 4 bytes.
std::string_view StreamName(ByteReader& in) {
  constexpr size_t kMostName = 32;
  const Bytes rest = {in.data(), std::min(in.remaining(), kMostName)};
  const std::string_view name = AsText(rest).substr(0, AsText(rest).find('\0'));
  in.Skip((name.size() / 4 + 1) * 4);
  return name;
}

// The table of fields, methods … in which a list's rows are found by their place.
Table PointersTo(Table target) {
  switch (target) {
    case Table::kField:
      return Table::kFieldPtr;
    case Table::kMethodDef:
      return Table::kMethodPtr;
    case Table::kParam:
      return Table::kParamPtr;
    case Table::kEvent:
      return Table::kEventPtr;
    case Table::kProperty:
      return Table::kPropertyPtr;
    default:
      return target;
  }
}

}  // namespace

Result<Metadata> Metadata::Parse(Bytes bytes) {
  Metadata out;
  ASSIGN_OR_RETURN(const Streams streams, out.ReadStreams(bytes));
  RETURN_IF_ERROR(out.ReadTables(streams));
  return out;
}

Result<Metadata::Streams> Metadata::ReadStreams(Bytes bytes) {
  ByteReader in(bytes);
  if (in.U32() != kRootSignature)
    return BadMetadata(ErrorCode::kCorrupt, 0, "does not begin with BSJB");
  in.Skip(8);
  const uint32_t version_size = in.U32();
  if (version_size > kMostVersionBytes)
    return BadMetadata(ErrorCode::kCorrupt, 12, "has a version that is too long");
  in.Skip(version_size + 2);
  const uint16_t count = in.U16();
  Streams out;
  for (unsigned i = 0; i < count; ++i) {
    const size_t at = in.position();
    const uint32_t offset = in.U32(), size = in.U32();
    const std::string_view name = StreamName(in);
    if (!in.ok()) return BadMetadata(ErrorCode::kTruncated, at, "ends in its streams");
    if (offset > bytes.size() || size > bytes.size() - offset)
      return BadMetadata(ErrorCode::kTruncated, at, "ends before its stream " + std::string(name));
    const Bytes stream = bytes.subspan(offset, size);
    if (name == "#~" || name == "#-") out.tables = stream;
    if (name == "#Pdb") out.pdb = stream;
    if (name == "#JTD") out.wide = true;
    if (name == "#Strings") strings_ = stream;
    if (name == "#US") user_strings_ = stream;
    if (name == "#GUID") guids_ = stream;
    if (name == "#Blob") blobs_ = stream;
  }
  return out;
}

Status Metadata::ReadPdb(Bytes bytes, std::array<uint32_t, kTableCount>& rows) {
  ByteReader in(bytes);
  const auto guid = in.Read<Guid>();
  pdb_id_ = PdbId{guid, in.U32()};
  in.Skip(4);  // the entry point
  for (uint64_t mask = in.U64(), table = 0; mask != 0; mask >>= 1, ++table)
    if ((mask & 1) != 0) rows[table] = in.U32();
  if (!in.ok()) return Error{ErrorCode::kTruncated, "the metadata ends in its stream #Pdb"};
  return OkStatus();
}

Status Metadata::ReadTables(const Streams& streams) {
  // Those of a PDB's module count for the width of indexes, and only for that.
  std::array<uint32_t, kTableCount> rows{};
  if (!streams.pdb.empty()) RETURN_IF_ERROR(ReadPdb(streams.pdb, rows));
  const auto bad = [](ErrorCode code, const std::string& what) {
    return Error{code, "the metadata " + what};
  };
  ByteReader in(streams.tables);
  in.Skip(6);
  const uint8_t heap_flags = in.U8();
  in.Skip(1);
  const uint64_t present = in.U64();
  sorted_ = in.U64();
  for (size_t i = 0; i < kTableCount; ++i) {
    if ((present >> i & 1) == 0) continue;
    rows_[i] = rows[i] = in.U32();
    if (rows_[i] > kRowMask)
      return bad(ErrorCode::kCorrupt,
                 "has " + std::to_string(rows_[i]) + " rows in table " + HexNumber(i));
  }
  if ((heap_flags & 0x40) != 0) in.Skip(4);
  if (!in.ok()) return bad(ErrorCode::kTruncated, "ends in the header of its tables");
  const auto width = [&](uint8_t flag) -> uint8_t {
    return streams.wide || (heap_flags & flag) != 0 ? 4 : 2;
  };
  const HeapWidths heaps{width(1), width(2), width(4)};
  for (size_t i = 0; i < kTableCount; ++i) {
    layouts_[i] = LayoutOf(static_cast<Table>(i), rows, heaps, streams.wide);
    if (rows_[i] == 0) continue;
    // Without its size what follows cannot be found.
    if (layouts_[i].row_size == 0)
      return bad(ErrorCode::kCorrupt, "has an unknown table " + HexNumber(i));
    tables_[i] = in.Take(size_t{rows_[i]} * layouts_[i].row_size);
    if (!in.ok()) return bad(ErrorCode::kTruncated, "ends in its table " + HexNumber(i));
  }
  return OkStatus();
}

uint32_t Metadata::Cell(Table table, uint32_t row, unsigned column) const {
  const TableLayout& layout = Layout(table);
  if (row == 0 || row > RowCount(table) || column >= layout.column_count) return 0;
  const ColumnLayout& c = layout.columns[column];
  const std::byte* at =
      tables_[static_cast<size_t>(table)].data() + size_t{row - 1} * layout.row_size + c.offset;
  return c.width == 4 ? LoadAt<uint32_t>(at) : LoadAt<uint16_t>(at);
}

Token Metadata::TokenAt(Table table, uint32_t row, unsigned column) const {
  const TableLayout& layout = Layout(table);
  if (column >= layout.column_count) return 0;
  const ColumnLayout& c = layout.columns[column];
  const uint32_t cell = Cell(table, row, column);
  if (c.kind == ColumnKind::kRow) return cell == 0 || cell > kRowMask ? 0 : TokenOf(c.table, cell);
  if (c.kind != ColumnKind::kCoded) return 0;
  const CodedTables& coded = CodedTablesOf(c.coded);
  const uint32_t tag = cell & ((1u << coded.bits) - 1), target = cell >> coded.bits;
  if (tag >= coded.tables.size() || coded.tables[tag] == kNoTable) return 0;
  return target == 0 || target > kRowMask ? 0
                                          : TokenOf(static_cast<Table>(coded.tables[tag]), target);
}

std::optional<uint32_t> Metadata::Coded(Table table, unsigned column, Token token) const {
  const TableLayout& layout = Layout(table);
  if (column >= layout.column_count) return std::nullopt;
  const ColumnLayout& c = layout.columns[column];
  if (c.kind == ColumnKind::kRow && c.table == TableOf(token)) return RowOf(token);
  const CodedTables& coded = CodedTablesOf(c.coded);
  for (uint32_t tag = 0; tag < coded.tables.size(); ++tag)
    if (coded.tables[tag] == static_cast<uint8_t>(TableOf(token)))
      return RowOf(token) << coded.bits | tag;
  return std::nullopt;
}

std::string_view Metadata::String(uint32_t offset) const {
  if (offset >= strings_.size()) return {};
  const std::string_view rest = AsText(strings_).substr(offset, kMostString);
  return rest.substr(0, rest.find('\0'));
}

Bytes Metadata::Blob(uint32_t offset) const {
  if (offset >= blobs_.size()) return {};
  ByteReader in(blobs_.subspan(offset));
  return in.Take(ReadCompressed(in));
}

Guid Metadata::GuidOf(uint32_t index) const {
  if (index == 0 || index > guids_.size() / sizeof(Guid)) return {};
  return LoadAt<Guid>(guids_.data() + size_t{index - 1} * sizeof(Guid));
}

Utf16View Metadata::UserString(uint32_t offset) const {
  if (offset >= user_strings_.size()) return {};
  ByteReader in(user_strings_.subspan(offset));
  // The odd byte at its end says whether it has unusual characters.
  const Bytes text = in.Take(ReadCompressed(in));
  return {text.data(), text.size() / 2};
}

RowRange Metadata::List(Table table, uint32_t row, unsigned column) const {
  const TableLayout& layout = Layout(table);
  if (row == 0 || row > RowCount(table) || column >= layout.column_count) return {};
  const Table target = layout.columns[column].table;
  const uint32_t end = std::max(RowCount(target), RowCount(PointersTo(target))) + 1;
  const uint32_t first = std::clamp<uint32_t>(Cell(table, row, column), 1, end);
  const uint32_t next = row == RowCount(table) ? end : Cell(table, row + 1, column);
  return {first, std::clamp(next, first, end)};
}

uint32_t Metadata::Listed(Table target, uint32_t at) const {
  const Table pointers = PointersTo(target);
  if (pointers == target || RowCount(pointers) == 0) return at;
  return Cell(pointers, at, column::kPointerTarget);
}

RowRange Metadata::Equal(Table table, unsigned column, uint32_t value) const {
  const uint32_t count = RowCount(table);
  if ((sorted_ >> static_cast<unsigned>(table) & 1) == 0) {
    for (uint32_t row = 1; row <= std::min(count, kMostUnsorted); ++row)
      if (Cell(table, row, column) == value) {
        uint32_t end = row + 1;
        while (end <= count && Cell(table, end, column) == value) ++end;
        return {row, end};
      }
    return {};
  }
  const uint32_t end = LastAtMost(table, column, value) + 1;
  const uint32_t first = value == 0 ? 1 : LastAtMost(table, column, value - 1) + 1;
  return first < end ? RowRange{first, end} : RowRange{};
}

uint32_t Metadata::LastAtMost(Table table, unsigned column, uint32_t value) const {
  uint32_t low = 0, high = RowCount(table);
  while (low < high) {
    const uint32_t middle = low + (high - low + 1) / 2;
    if (Cell(table, middle, column) <= value)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

}  // namespace clrscope::symbols
