// SPDX-License-Identifier: Apache-2.0
// Bytes and numbers as hexadecimal digits.
#pragma once

#include <cstdint>
#include <string>

#include "base/byte_reader.h"

namespace clrscope {

// Two for each byte, in the order in which they lie.
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

// "0x2a"
inline std::string HexNumber(uint64_t number) {
  std::string digits;
  do digits.insert(digits.begin(), "0123456789abcdef"[number & 15]);
  while ((number >>= 4) != 0);
  return "0x" + digits;
}

}  // namespace clrscope
