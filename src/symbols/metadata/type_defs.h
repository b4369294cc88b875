// SPDX-License-Identifier: Apache-2.0
// The types, methods and fields that a module defines, and what it refers to.
// Source: ECMA-335 §II.22
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "symbols/metadata/metadata.h"

namespace clrscope::symbols {

struct TypeDef {
  Token token = 0;
  std::string_view name;  // "Box`1"
  std::string_view type_namespace;
  uint32_t flags = 0;  // TypeAttributes
  Token extends = 0;   // TypeDef, TypeRef or TypeSpec; 0 for interfaces and System.Object
  Token owner = 0;     // the TypeDef that it is nested in; 0: none
  // Those of its owners come first, as metadata repeat them.
  std::vector<std::string_view> generic_parameters;
};

struct MethodDef {
  Token token = 0;
  std::string_view name;
  Token owner = 0;      // its TypeDef
  uint32_t flags = 0;   // MethodAttributes
  uint32_t il_rva = 0;  // 0: it has no IL
  Bytes signature;
  std::vector<std::string_view> generic_parameters;
};

struct FieldDef {
  Token token = 0;
  std::string_view name;
  uint32_t flags = 0;  // FieldAttributes
  Bytes signature;
  bool is_static() const { return (flags & 0x10) != 0; }
  bool is_literal() const { return (flags & 0x40) != 0; }  // a constant: it has no storage
};

struct TypeRef {
  std::string_view name;
  std::string_view type_namespace;
  Token scope = 0;  // Module, ModuleRef, AssemblyRef; TypeRef: the owner of a nested type
};

struct AssemblyName {
  std::string_view name;
  uint16_t major = 0, minor = 0, build = 0, revision = 0;
  Bytes public_key;  // of a reference mostly its token of 8 bytes
};

// Nothing where the token is of another table or has no row.
std::optional<TypeDef> FindTypeDef(const Metadata& metadata, Token token);
std::optional<MethodDef> FindMethodDef(const Metadata& metadata, Token token);
std::optional<TypeRef> FindTypeRef(const Metadata& metadata, Token token);
std::optional<AssemblyName> FindAssemblyRef(const Metadata& metadata, Token token);
// Nothing in a module that is no assembly's first.
std::optional<AssemblyName> FindAssembly(const Metadata& metadata);

// In the order of their declaration, which is not that of their places in memory.
std::vector<FieldDef> FieldsOf(const Metadata& metadata, Token type);
std::vector<Token> MethodsOf(const Metadata& metadata, Token type);

// "Sample.dll", and what tells one build of it from another.
std::string_view ModuleFileName(const Metadata& metadata);
Guid ModuleMvid(const Metadata& metadata);

}  // namespace clrscope::symbols
