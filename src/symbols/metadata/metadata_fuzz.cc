// SPDX-License-Identifier: Apache-2.0
// Any bytes as the metadata of a module: names of its types, methods and fields.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "symbols/metadata/field_type.h"
#include "symbols/metadata/nested_types.h"
#include "symbols/metadata/type_defs.h"
#include "symbols/metadata/type_names.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace clrscope;
  using namespace clrscope::symbols;
  const Result<Metadata> parsed = Metadata::Parse(AsBytes(data, size));
  if (!parsed.ok()) return 0;
  const Metadata& metadata = *parsed;
  const auto rows = [&](Table table) { return std::min(metadata.RowCount(table), 50u); };
  (void)FindAssembly(metadata);
  (void)ModuleMvid(metadata);
  (void)metadata.UserString(1);
  for (uint32_t row = 1; row <= rows(Table::kTypeDef); ++row) {
    const Token type = TokenOf(Table::kTypeDef, row);
    (void)CsharpNestedName(metadata, type, {});
    (void)MethodsOf(metadata, type);
    const auto fields = FieldsOf(metadata, type);
    for (size_t i = 0; i < std::min(fields.size(), size_t{20}); ++i)
      (void)DecodeFieldType(metadata, fields[i].signature, type);
  }
  if (const auto nested = NestedTypes::Of(metadata))
    for (uint32_t row = 1; row <= rows(Table::kTypeDef); ++row) {
      const Token type = TokenOf(Table::kTypeDef, row);
      (void)nested->OwnerOf(type);
      (void)nested->Find(nested->NameOf(type), 0);
    }
  for (uint32_t row = 1; row <= rows(Table::kMethodDef); ++row)
    (void)FindMethodDef(metadata, TokenOf(Table::kMethodDef, row));
  for (uint32_t row = 1; row <= rows(Table::kTypeRef); ++row)
    (void)RuntimeTypeName(metadata, TokenOf(Table::kTypeRef, row));
  for (uint32_t row = 1; row <= rows(Table::kAssemblyRef); ++row)
    (void)FindAssemblyRef(metadata, TokenOf(Table::kAssemblyRef, row));
  return 0;
}
