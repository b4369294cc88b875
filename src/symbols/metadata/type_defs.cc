// SPDX-License-Identifier: Apache-2.0
#include "symbols/metadata/type_defs.h"

#include <algorithm>

namespace clrscope::symbols {
namespace {

// Whether the token's row is there.
bool Exists(const Metadata& metadata, Token token, Table table) {
  return TableOf(token) == table && RowOf(token) != 0 && RowOf(token) <= metadata.RowCount(table);
}

std::vector<std::string_view> GenericParametersOf(const Metadata& metadata, Token owner) {
  // ECMA-335 allows 65,536; the runtime's hashes of types are built for few.
  constexpr uint32_t kMostParameters = 1024;
  std::vector<std::string_view> out;
  const auto coded = metadata.Coded(Table::kGenericParam, column::kGenericOwner, owner);
  if (!coded) return out;
  const RowRange rows = metadata.Equal(Table::kGenericParam, column::kGenericOwner, *coded);
  const uint32_t end = std::min(rows.end, rows.first + kMostParameters);
  for (uint32_t row = rows.first; row < end; ++row)
    out.push_back(metadata.StringAt(Table::kGenericParam, row, column::kGenericName));
  return out;
}

// The type whose list of methods holds this one.
Token OwnerOfMethod(const Metadata& metadata, uint32_t row) {
  uint32_t at = row;
  if (metadata.RowCount(Table::kMethodPtr) != 0)
    at = metadata.Equal(Table::kMethodPtr, column::kPointerTarget, row).first;
  const uint32_t type = metadata.LastAtMost(Table::kTypeDef, column::kTypeDefMethods, at);
  return type == 0 ? 0 : TokenOf(Table::kTypeDef, type);
}

// The four numbers from `first` on.
void ReadVersion(const Metadata& metadata, Table table, uint32_t row, unsigned first,
                 AssemblyName& out) {
  uint16_t* const numbers[] = {&out.major, &out.minor, &out.build, &out.revision};
  for (unsigned i = 0; i < 4; ++i)
    *numbers[i] = static_cast<uint16_t>(metadata.Cell(table, row, first + i));
}

}  // namespace

std::optional<TypeDef> FindTypeDef(const Metadata& metadata, Token token) {
  if (!Exists(metadata, token, Table::kTypeDef)) return std::nullopt;
  const uint32_t row = RowOf(token);
  TypeDef out;
  out.token = token;
  out.name = metadata.StringAt(Table::kTypeDef, row, column::kTypeDefName);
  out.type_namespace = metadata.StringAt(Table::kTypeDef, row, column::kTypeDefNamespace);
  out.flags = metadata.Cell(Table::kTypeDef, row, column::kTypeDefFlags);
  out.extends = metadata.TokenAt(Table::kTypeDef, row, column::kTypeDefExtends);
  const RowRange nested = metadata.Equal(Table::kNestedClass, column::kNestedType, row);
  if (nested.size() != 0)
    out.owner = metadata.TokenAt(Table::kNestedClass, nested.first, column::kNestedOwner);
  out.generic_parameters = GenericParametersOf(metadata, token);
  return out;
}

std::optional<MethodDef> FindMethodDef(const Metadata& metadata, Token token) {
  if (!Exists(metadata, token, Table::kMethodDef)) return std::nullopt;
  const uint32_t row = RowOf(token);
  MethodDef out;
  out.token = token;
  out.name = metadata.StringAt(Table::kMethodDef, row, column::kMethodName);
  out.owner = OwnerOfMethod(metadata, row);
  out.flags = metadata.Cell(Table::kMethodDef, row, column::kMethodFlags);
  out.il_rva = metadata.Cell(Table::kMethodDef, row, column::kMethodRva);
  out.signature = metadata.BlobAt(Table::kMethodDef, row, column::kMethodSignature);
  out.generic_parameters = GenericParametersOf(metadata, token);
  return out;
}

std::optional<TypeRef> FindTypeRef(const Metadata& metadata, Token token) {
  if (!Exists(metadata, token, Table::kTypeRef)) return std::nullopt;
  const uint32_t row = RowOf(token);
  return TypeRef{metadata.StringAt(Table::kTypeRef, row, column::kTypeRefName),
                 metadata.StringAt(Table::kTypeRef, row, column::kTypeRefNamespace),
                 metadata.TokenAt(Table::kTypeRef, row, column::kTypeRefScope)};
}

std::optional<AssemblyName> FindAssemblyRef(const Metadata& metadata, Token token) {
  if (!Exists(metadata, token, Table::kAssemblyRef)) return std::nullopt;
  const uint32_t row = RowOf(token);
  AssemblyName out;
  out.name = metadata.StringAt(Table::kAssemblyRef, row, column::kAssemblyRefName);
  out.public_key = metadata.BlobAt(Table::kAssemblyRef, row, column::kAssemblyRefKey);
  ReadVersion(metadata, Table::kAssemblyRef, row, column::kAssemblyRefVersion, out);
  return out;
}

std::optional<AssemblyName> FindAssembly(const Metadata& metadata) {
  if (metadata.RowCount(Table::kAssembly) == 0) return std::nullopt;
  AssemblyName out;
  out.name = metadata.StringAt(Table::kAssembly, 1, column::kAssemblyName);
  out.public_key = metadata.BlobAt(Table::kAssembly, 1, column::kAssemblyPublicKey);
  ReadVersion(metadata, Table::kAssembly, 1, column::kAssemblyVersion, out);
  return out;
}

std::vector<FieldDef> FieldsOf(const Metadata& metadata, Token type) {
  std::vector<FieldDef> out;
  if (!Exists(metadata, type, Table::kTypeDef)) return out;
  const RowRange list = metadata.List(Table::kTypeDef, RowOf(type), column::kTypeDefFields);
  for (uint32_t at = list.first; at < list.end; ++at) {
    const uint32_t row = metadata.Listed(Table::kField, at);
    out.push_back({TokenOf(Table::kField, row),
                   metadata.StringAt(Table::kField, row, column::kFieldName),
                   metadata.Cell(Table::kField, row, column::kFieldFlags),
                   metadata.BlobAt(Table::kField, row, column::kFieldSignature)});
  }
  return out;
}

std::vector<Token> MethodsOf(const Metadata& metadata, Token type) {
  std::vector<Token> out;
  if (!Exists(metadata, type, Table::kTypeDef)) return out;
  const RowRange list = metadata.List(Table::kTypeDef, RowOf(type), column::kTypeDefMethods);
  for (uint32_t at = list.first; at < list.end; ++at)
    out.push_back(TokenOf(Table::kMethodDef, metadata.Listed(Table::kMethodDef, at)));
  return out;
}

std::string_view ModuleFileName(const Metadata& metadata) {
  return metadata.StringAt(Table::kModule, 1, column::kModuleName);
}

Guid ModuleMvid(const Metadata& metadata) {
  return metadata.GuidAt(Table::kModule, 1, column::kModuleMvid);
}

}  // namespace clrscope::symbols
