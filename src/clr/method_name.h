// SPDX-License-Identifier: Apache-2.0
// Method names: raw, as TraceEvent prints them, and as C# developers write them.
#pragma once

#include <string>
#include <string_view>

namespace clrscope::clr {

// The runtime's name with its parameters: "Owner.Name(class System.String,int32)". Equal to
// TraceEvent's FullMethodName (microsoft/perfview src/TraceEvent/TraceLog.cs, GetFullName).
std::string RawMethodName(std::string_view owner, std::string_view name,
                          std::string_view signature);

// C# name without parameters. Compiler-made names become what they were made from:
//   Shop.OrderService+<LoadAsync>d__5.MoveNext            Shop.OrderService.LoadAsync [async]
//   Shop.Tree+<Walk>d__2.MoveNext (returns bool)          Shop.Tree.Walk [iterator]
//   Shop.Cart+<>c__DisplayClass8_0.<Total>b__0            Shop.Cart.Total.λ0
//   Shop.Cart.<Total>g__Sum|8_1                           Shop.Cart.Total.Sum
std::string CsharpMethodName(std::string_view owner, std::string_view name,
                             std::string_view signature);

// "Namespace.Type.Name(…)", as RawMethodName() makes it, into owner and name.
struct MethodNameParts {
  std::string_view owner, name;  // within the raw name
};
MethodNameParts SplitRawMethodName(std::string_view raw);

// Whether the method is plumbing of async methods, tasks or the thread pool: a frame that tells a
// reader nothing and that views fold away.
bool IsMachinery(std::string_view owner, std::string_view name);

}  // namespace clrscope::clr
