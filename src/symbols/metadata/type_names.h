// SPDX-License-Identifier: Apache-2.0
// Names of types with their owners, which the runtime's events leave out.
#pragma once

#include <span>
#include <string>

#include "symbols/metadata/metadata.h"

namespace clrscope::symbols {

// Of a TypeDef or TypeRef, as the runtime writes it: "Shop.Box`1+Slot+Deep`2". "" when there is no
// such type.
std::string RuntimeTypeName(const Metadata& metadata, Token type);

// As C# people write it: "Shop.Box<int>.Slot". The arguments are those of the owners first, each in
// the runtime's grammar ("System.Int32", "Shop.Box`1+Slot[System.String]"); without any, the
// parameters' own names are shown: "Shop.Box<T>.Slot".
std::string CsharpNestedName(const Metadata& metadata, Token type_def,
                             std::span<const std::string> arguments);

}  // namespace clrscope::symbols
