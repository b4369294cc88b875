// SPDX-License-Identifier: Apache-2.0
// Room for a name that the runtime writes, in UTF-16 code units.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/utf.h"

namespace clrscope::agent {

inline constexpr uint32_t kNameUnits = 1024;
using NameBuffer = std::array<char16_t, kNameUnits>;

// What the runtime wrote; `length` counts its NUL.
inline std::string NameText(const NameBuffer& name, uint32_t length) {
  const uint32_t units = std::min(length, kNameUnits);
  return ToUtf8({reinterpret_cast<const std::byte*>(name.data()), units == 0 ? 0 : units - 1});
}

}  // namespace clrscope::agent
