// SPDX-License-Identifier: Apache-2.0
#include "symbols/metadata/table_schema.h"

#include <algorithm>

namespace clrscope::symbols {
namespace {

// A column in one byte: a table's number, or one of these.
enum : uint8_t {
  // Coded indexes, in the order of kCodedTables.
  kTypeDefOrRef = 0x40,
  kHasConstant,
  kHasCustomAttribute,
  kHasFieldMarshal,
  kHasDeclSecurity,
  kMemberRefParent,
  kHasSemantics,
  kMethodDefOrRef,
  kMemberForwarded,
  kImplementation,
  kCustomAttributeType,
  kResolutionScope,
  kTypeOrMethodDef,
  kHasCustomDebugInformation,
  kCodedEnd,
  kU16 = 0x80,
  kU32,
  kStr,
  kGid,
  kBlb,
  kEnd,
};

constexpr uint8_t T(Table table) { return static_cast<uint8_t>(table); }

// §II.24.2.6
constexpr uint8_t kTypeDefOrRefTables[] = {0x02, 0x01, 0x1b};
constexpr uint8_t kHasConstantTables[] = {0x04, 0x08, 0x17};
constexpr uint8_t kHasCustomAttributeTables[] = {0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00,
                                                 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20, 0x23,
                                                 0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b};
constexpr uint8_t kHasFieldMarshalTables[] = {0x04, 0x08};
constexpr uint8_t kHasDeclSecurityTables[] = {0x02, 0x06, 0x20};
constexpr uint8_t kMemberRefParentTables[] = {0x02, 0x01, 0x1a, 0x06, 0x1b};
constexpr uint8_t kHasSemanticsTables[] = {0x14, 0x17};
constexpr uint8_t kMethodDefOrRefTables[] = {0x06, 0x0a};
constexpr uint8_t kMemberForwardedTables[] = {0x04, 0x06};
constexpr uint8_t kImplementationTables[] = {0x26, 0x23, 0x27};
constexpr uint8_t kCustomAttributeTypeTables[] = {kNoTable, kNoTable, 0x06, 0x0a, kNoTable};
constexpr uint8_t kResolutionScopeTables[] = {0x00, 0x1a, 0x23, 0x01};
constexpr uint8_t kTypeOrMethodDefTables[] = {0x02, 0x06};
constexpr uint8_t kHasCustomDebugInformationTables[] = {
    0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b,
    0x20, 0x23, 0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b, 0x30, 0x32, 0x33, 0x34, 0x35};

// From 1: 0 is none.
constexpr CodedTables kCodedTables[] = {
    {},
    {2, kTypeDefOrRefTables},
    {2, kHasConstantTables},
    {5, kHasCustomAttributeTables},
    {1, kHasFieldMarshalTables},
    {2, kHasDeclSecurityTables},
    {3, kMemberRefParentTables},
    {1, kHasSemanticsTables},
    {1, kMethodDefOrRefTables},
    {1, kMemberForwardedTables},
    {2, kImplementationTables},
    {3, kCustomAttributeTypeTables},
    {2, kResolutionScopeTables},
    {1, kTypeOrMethodDefTables},
    {5, kHasCustomDebugInformationTables},
};
static_assert(std::size(kCodedTables) == kCodedEnd - kTypeDefOrRef + 1);

using Columns = std::array<uint8_t, kMostColumns + 1>;

// §II.22, and the tables of portable PDBs.
constexpr Columns ColumnsOf(Table table) {
  switch (table) {
    case Table::kModule:
      return {kU16, kStr, kGid, kGid, kGid, kEnd};
    case Table::kTypeRef:
      return {kResolutionScope, kStr, kStr, kEnd};
    case Table::kTypeDef:
      return {kU32, kStr, kStr, kTypeDefOrRef, T(Table::kField), T(Table::kMethodDef), kEnd};
    case Table::kFieldPtr:
      return {T(Table::kField), kEnd};
    case Table::kField:
      return {kU16, kStr, kBlb, kEnd};
    case Table::kMethodPtr:
      return {T(Table::kMethodDef), kEnd};
    case Table::kMethodDef:
      return {kU32, kU16, kU16, kStr, kBlb, T(Table::kParam), kEnd};
    case Table::kParamPtr:
      return {T(Table::kParam), kEnd};
    case Table::kParam:
      return {kU16, kU16, kStr, kEnd};
    case Table::kInterfaceImpl:
      return {T(Table::kTypeDef), kTypeDefOrRef, kEnd};
    case Table::kMemberRef:
      return {kMemberRefParent, kStr, kBlb, kEnd};
    case Table::kConstant:
      return {kU16, kHasConstant, kBlb, kEnd};
    case Table::kCustomAttribute:
      return {kHasCustomAttribute, kCustomAttributeType, kBlb, kEnd};
    case Table::kFieldMarshal:
      return {kHasFieldMarshal, kBlb, kEnd};
    case Table::kDeclSecurity:
      return {kU16, kHasDeclSecurity, kBlb, kEnd};
    case Table::kClassLayout:
      return {kU16, kU32, T(Table::kTypeDef), kEnd};
    case Table::kFieldLayout:
      return {kU32, T(Table::kField), kEnd};
    case Table::kStandAloneSig:
      return {kBlb, kEnd};
    case Table::kEventMap:
      return {T(Table::kTypeDef), T(Table::kEvent), kEnd};
    case Table::kEventPtr:
      return {T(Table::kEvent), kEnd};
    case Table::kEvent:
      return {kU16, kStr, kTypeDefOrRef, kEnd};
    case Table::kPropertyMap:
      return {T(Table::kTypeDef), T(Table::kProperty), kEnd};
    case Table::kPropertyPtr:
      return {T(Table::kProperty), kEnd};
    case Table::kProperty:
      return {kU16, kStr, kBlb, kEnd};
    case Table::kMethodSemantics:
      return {kU16, T(Table::kMethodDef), kHasSemantics, kEnd};
    case Table::kMethodImpl:
      return {T(Table::kTypeDef), kMethodDefOrRef, kMethodDefOrRef, kEnd};
    case Table::kModuleRef:
      return {kStr, kEnd};
    case Table::kTypeSpec:
      return {kBlb, kEnd};
    case Table::kImplMap:
      return {kU16, kMemberForwarded, kStr, T(Table::kModuleRef), kEnd};
    case Table::kFieldRva:
      return {kU32, T(Table::kField), kEnd};
    case Table::kEncLog:
      return {kU32, kU32, kEnd};
    case Table::kEncMap:
      return {kU32, kEnd};
    case Table::kAssembly:
      return {kU32, kU16, kU16, kU16, kU16, kU32, kBlb, kStr, kStr, kEnd};
    case Table::kAssemblyProcessor:
      return {kU32, kEnd};
    case Table::kAssemblyOs:
      return {kU32, kU32, kU32, kEnd};
    case Table::kAssemblyRef:
      return {kU16, kU16, kU16, kU16, kU32, kBlb, kStr, kStr, kBlb, kEnd};
    case Table::kAssemblyRefProcessor:
      return {kU32, T(Table::kAssemblyRef), kEnd};
    case Table::kAssemblyRefOs:
      return {kU32, kU32, kU32, T(Table::kAssemblyRef), kEnd};
    case Table::kFile:
      return {kU32, kStr, kBlb, kEnd};
    case Table::kExportedType:
      return {kU32, kU32, kStr, kStr, kImplementation, kEnd};
    case Table::kManifestResource:
      return {kU32, kU32, kStr, kImplementation, kEnd};
    case Table::kNestedClass:
      return {T(Table::kTypeDef), T(Table::kTypeDef), kEnd};
    case Table::kGenericParam:
      return {kU16, kU16, kTypeOrMethodDef, kStr, kEnd};
    case Table::kMethodSpec:
      return {kMethodDefOrRef, kBlb, kEnd};
    case Table::kGenericParamConstraint:
      return {T(Table::kGenericParam), kTypeDefOrRef, kEnd};
    case Table::kDocument:
      return {kBlb, kGid, kBlb, kGid, kEnd};
    case Table::kMethodDebugInformation:
      return {T(Table::kDocument), kBlb, kEnd};
    case Table::kLocalScope:
      return {T(Table::kMethodDef),
              T(Table::kImportScope),
              T(Table::kLocalVariable),
              T(Table::kLocalConstant),
              kU32,
              kU32,
              kEnd};
    case Table::kLocalVariable:
      return {kU16, kU16, kStr, kEnd};
    case Table::kLocalConstant:
      return {kStr, kBlb, kEnd};
    case Table::kImportScope:
      return {T(Table::kImportScope), kBlb, kEnd};
    case Table::kStateMachineMethod:
      return {T(Table::kMethodDef), T(Table::kMethodDef), kEnd};
    case Table::kCustomDebugInformation:
      return {kHasCustomDebugInformation, kGid, kBlb, kEnd};
  }
  return {kEnd};
}

}  // namespace

const CodedTables& CodedTablesOf(uint8_t coded) { return kCodedTables[coded]; }

TableLayout LayoutOf(Table table, const std::array<uint32_t, kTableCount>& rows,
                     const HeapWidths& heaps, bool wide) {
  TableLayout out;
  for (const uint8_t code : ColumnsOf(table)) {
    if (code == kEnd) break;
    ColumnLayout c;
    c.offset = static_cast<uint8_t>(out.row_size);
    if (code < kTableCount) {
      c.kind = ColumnKind::kRow;
      c.table = static_cast<Table>(code);
      c.width = wide || rows[code] > 0xffff ? 4 : 2;
    } else if (code < kCodedEnd) {
      c.kind = ColumnKind::kCoded;
      c.coded = static_cast<uint8_t>(code - kTypeDefOrRef + 1);
      const CodedTables& coded = kCodedTables[c.coded];
      uint32_t most = 0;
      for (const uint8_t t : coded.tables)
        if (t != kNoTable) most = std::max(most, rows[t]);
      c.width = wide || most >= (uint32_t{0x10000} >> coded.bits) ? 4 : 2;
    } else if (code == kStr) {
      c.kind = ColumnKind::kString;
      c.width = heaps.string;
    } else if (code == kGid) {
      c.kind = ColumnKind::kGuid;
      c.width = heaps.guid;
    } else if (code == kBlb) {
      c.kind = ColumnKind::kBlob;
      c.width = heaps.blob;
    } else {
      c.width = code == kU32 ? 4 : 2;
    }
    out.columns[out.column_count++] = c;
    out.row_size += c.width;
  }
  return out;
}

}  // namespace clrscope::symbols
