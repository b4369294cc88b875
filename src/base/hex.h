// SPDX-License-Identifier: Apache-2.0
// Bytes as hexadecimal digits, two for each byte, in the order in which they lie.
#pragma once

#include <string>

#include "base/byte_reader.h"

namespace clrscope {

inline std::string HexText(Bytes bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const std::byte b : bytes) {
    out += kDigits[static_cast<unsigned>(b) >> 4];
    out += kDigits[static_cast<unsigned>(b) & 15];
  }
  return out;
}

}  // namespace clrscope
