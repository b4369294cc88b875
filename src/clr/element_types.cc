// SPDX-License-Identifier: Apache-2.0
#include "clr/element_types.h"

#include <array>

namespace clrscope::clr {

std::string_view ElementTypeName(uint32_t element) {
  constexpr std::array<std::string_view, 15> kNames = {
      "",
      "System.Void",
      "System.Boolean",
      "System.Char",
      "System.SByte",
      "System.Byte",
      "System.Int16",
      "System.UInt16",
      "System.Int32",
      "System.UInt32",
      "System.Int64",
      "System.UInt64",
      "System.Single",
      "System.Double",
      "System.String",
  };
  if (element < kNames.size()) return kNames[element];
  switch (element) {
    case 0x16:
      return "System.TypedReference";
    case 0x18:
      return "System.IntPtr";
    case 0x19:
      return "System.UIntPtr";
    case 0x1c:
      return "System.Object";
    default:
      return {};
  }
}

}  // namespace clrscope::clr
