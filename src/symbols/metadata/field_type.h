// SPDX-License-Identifier: Apache-2.0
// What a field is declared as.
// Source: ECMA-335 §II.23.2.4 and §II.23.2.12
#pragma once

#include <cstdint>
#include <string>

#include "base/byte_reader.h"
#include "base/result.h"
#include "symbols/metadata/metadata.h"

namespace clrscope::symbols {

struct FieldType {
  // CorElementType (§II.23.1.16) without modifiers; of a generic instance that of its definition:
  // class (0x12) or value type (0x11).
  uint8_t element = 0;
  Token type = 0;    // TypeDef, TypeRef of a class, value type or generic definition; else 0
  std::string name;  // as C# people write it: "System.Collections.Generic.List<T[]>"
  // Whether it holds a reference to an object. Of a type parameter (0x13) it is unknown: false.
  bool is_reference() const;
};

// `owner`: the TypeDef whose field it is, which names the type parameters. errors: kCorrupt
Result<FieldType> DecodeFieldType(const Metadata& metadata, Bytes signature, Token owner);

}  // namespace clrscope::symbols
