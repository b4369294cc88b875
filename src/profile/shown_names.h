// SPDX-License-Identifier: Apache-2.0
// What is shown of a method or a type that lacks one of its names; never "".
#pragma once

#include <string_view>

namespace clrscope::profile {

inline constexpr std::string_view kUnknownMethod = "[unknown method]",
                                  kUnknownType = "[unknown type]";

// name: as C# people write it; raw: the runtime's
constexpr std::string_view ShownMethod(std::string_view name, std::string_view raw) {
  return !name.empty() ? name : !raw.empty() ? raw : kUnknownMethod;
}
constexpr std::string_view ShownType(std::string_view name, std::string_view raw) {
  return !name.empty() ? name : !raw.empty() ? raw : kUnknownType;
}

}  // namespace clrscope::profile
