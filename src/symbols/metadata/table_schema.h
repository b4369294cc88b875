// SPDX-License-Identifier: Apache-2.0
// The tables of .NET metadata and where the columns of a row lie, which depends on how large heaps
// and tables are.
// Source: ECMA-335 §II.22 and §II.24.2.6; dotnet/runtime docs/design/specs/PortablePdb-Metadata.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace clrscope::symbols {

enum class Table : uint8_t {
  kModule = 0x00,
  kTypeRef = 0x01,
  kTypeDef = 0x02,
  kFieldPtr = 0x03,
  kField = 0x04,
  kMethodPtr = 0x05,
  kMethodDef = 0x06,
  kParamPtr = 0x07,
  kParam = 0x08,
  kInterfaceImpl = 0x09,
  kMemberRef = 0x0a,
  kConstant = 0x0b,
  kCustomAttribute = 0x0c,
  kFieldMarshal = 0x0d,
  kDeclSecurity = 0x0e,
  kClassLayout = 0x0f,
  kFieldLayout = 0x10,
  kStandAloneSig = 0x11,
  kEventMap = 0x12,
  kEventPtr = 0x13,
  kEvent = 0x14,
  kPropertyMap = 0x15,
  kPropertyPtr = 0x16,
  kProperty = 0x17,
  kMethodSemantics = 0x18,
  kMethodImpl = 0x19,
  kModuleRef = 0x1a,
  kTypeSpec = 0x1b,
  kImplMap = 0x1c,
  kFieldRva = 0x1d,
  kEncLog = 0x1e,
  kEncMap = 0x1f,
  kAssembly = 0x20,
  kAssemblyProcessor = 0x21,
  kAssemblyOs = 0x22,
  kAssemblyRef = 0x23,
  kAssemblyRefProcessor = 0x24,
  kAssemblyRefOs = 0x25,
  kFile = 0x26,
  kExportedType = 0x27,
  kManifestResource = 0x28,
  kNestedClass = 0x29,
  kGenericParam = 0x2a,
  kMethodSpec = 0x2b,
  kGenericParamConstraint = 0x2c,
  kDocument = 0x30,
  kMethodDebugInformation = 0x31,
  kLocalScope = 0x32,
  kLocalVariable = 0x33,
  kLocalConstant = 0x34,
  kImportScope = 0x35,
  kStateMachineMethod = 0x36,
  kCustomDebugInformation = 0x37,
};
inline constexpr size_t kTableCount = 64;  // bits of a mask

// A row of any table: the table in the high byte, the row, from 1, below. Row 0: nothing.
using Token = uint32_t;
inline constexpr uint32_t kRowMask = 0xffffff;
constexpr Token TokenOf(Table table, uint32_t row) {
  return static_cast<uint32_t>(table) << 24 | (row & kRowMask);
}
constexpr Table TableOf(Token token) { return static_cast<Table>(token >> 24); }
constexpr uint32_t RowOf(Token token) { return token & kRowMask; }

// Columns that are read by name.
namespace column {
inline constexpr unsigned kModuleName = 1, kModuleMvid = 2;
inline constexpr unsigned kTypeRefScope = 0, kTypeRefName = 1, kTypeRefNamespace = 2;
inline constexpr unsigned kTypeDefFlags = 0, kTypeDefName = 1, kTypeDefNamespace = 2,
                          kTypeDefExtends = 3, kTypeDefFields = 4, kTypeDefMethods = 5;
inline constexpr unsigned kFieldFlags = 0, kFieldName = 1, kFieldSignature = 2;
inline constexpr unsigned kMethodRva = 0, kMethodFlags = 2, kMethodName = 3, kMethodSignature = 4;
inline constexpr unsigned kPointerTarget = 0;
inline constexpr unsigned kTypeSpecSignature = 0;
inline constexpr unsigned kAssemblyVersion = 1, kAssemblyPublicKey = 6, kAssemblyName = 7;
inline constexpr unsigned kAssemblyRefVersion = 0, kAssemblyRefKey = 5, kAssemblyRefName = 6;
inline constexpr unsigned kNestedType = 0, kNestedOwner = 1;
inline constexpr unsigned kGenericNumber = 0, kGenericOwner = 2, kGenericName = 3;
inline constexpr unsigned kDocumentName = 0, kDocumentHashAlgorithm = 1, kDocumentHash = 2,
                          kDocumentLanguage = 3;
inline constexpr unsigned kMethodDocument = 0, kMethodSequencePoints = 1;
inline constexpr unsigned kMoveNextMethod = 0, kKickoffMethod = 1;
inline constexpr unsigned kCustomParent = 0, kCustomKind = 1, kCustomValue = 2;
}  // namespace column

// How a column's value is to be read.
enum class ColumnKind : uint8_t {
  kNumber,  // of 2 or 4 bytes
  kString,  // an offset into a heap
  kGuid,    // an index into a heap, from 1
  kBlob,
  kRow,    // of one table
  kCoded,  // of one of several tables: the low bits say which
};

// Which tables a coded index means; of entries that mean nothing, kNoTable.
inline constexpr uint8_t kNoTable = 0xff;
struct CodedTables {
  unsigned bits = 0;
  std::span<const uint8_t> tables;
};
// By ColumnLayout::coded.
const CodedTables& CodedTablesOf(uint8_t coded);

struct ColumnLayout {
  ColumnKind kind = ColumnKind::kNumber;
  uint8_t offset = 0, width = 0;  // bytes, in a row
  Table table{};                  // of a kRow
  uint8_t coded = 0;              // of a kCoded: see CodedTablesOf(); 0: none
};

inline constexpr size_t kMostColumns = 9;
struct TableLayout {
  uint32_t row_size = 0;  // bytes; 0: no such table is known
  uint8_t column_count = 0;
  std::array<ColumnLayout, kMostColumns> columns;
};

struct HeapWidths {
  uint8_t string = 2, guid = 2, blob = 2;  // bytes of an offset
};

// `rows`: of each table, those of the module that a PDB belongs to included. `wide`: all indexes
// have 4 bytes, as in the small deltas of edited programs.
TableLayout LayoutOf(Table table, const std::array<uint32_t, kTableCount>& rows,
                     const HeapWidths& heaps, bool wide);

}  // namespace clrscope::symbols
