// SPDX-License-Identifier: Apache-2.0
// Type names as the runtime writes them → as C# developers write them.
//   System.Collections.Generic.Dictionary`2+Entry[System.String,System.Int32][]
//   System.Collections.Generic.Dictionary<string, int>.Entry[]
// The runtime's grammar is that of TypeString (dotnet/runtime src/coreclr/vm/typestring.cpp); names
// in allocation events lack the owner of a nested type, until symbol_files/type_owners.h finds it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace clrscope::clr {

// What does not parse is returned as it is.
std::string CsharpTypeName(std::string_view raw);

// What may be missing before a name of an allocation event: the owner of its outermost type, whose
// arguments are written with theirs.
struct BareName {
  std::string name;      // "Slot" of "Slot[System.Int32][]", as metadata have it
  size_t arguments = 0;  // those of the owners included
};
// Nothing where the name says all: it has a namespace or an owner.
std::optional<BareName> BareNameOf(std::string_view raw);

// "Slot[System.Int32]" of "Shop.Box`1+Slot[System.Int32]"; nothing where there is no owner.
std::optional<std::string_view> WithoutOwner(std::string_view raw);

// "Odd, name" of "Odd\, name": where the runtime writes a method's owner, a backslash stands before
// what else would mean something.
std::string UnescapedName(std::string_view name);

// One type of an IL signature: "value class System.Span`1<unsigned int8>&" → "ref
// System.Span<byte>".
std::string CsharpSignatureType(std::string_view il);

// The parameters of a method's IL signature: "instance void  (class System.String,int32&)" →
// "(string, ref int)"; "" when it has none to show.
std::string CsharpParameters(std::string_view il_signature);

// "<LoadAsync>d__5" → "LoadAsync"; empty when `component` is not a compiler-made name of that
// shape. `kind` is the letter after '>': 'd' state machine, 'b' lambda, 'g' local function.
struct CompilerName {
  std::string_view method;  // what is between the brackets, may itself be compiler-made
  char kind = 0;
  std::string_view rest;  // after the kind: "__5", "__LocalName|3_0"
};
bool ParseCompilerName(std::string_view component, CompilerName& out);

}  // namespace clrscope::clr
