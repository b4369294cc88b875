// SPDX-License-Identifier: Apache-2.0
// Bytes and numbers as hexadecimal digits.
#pragma once

#include <charconv>
#include <cstdint>
#include <iterator>
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
  char text[2 + 2 * sizeof number] = {'0', 'x'};
  return {text, std::to_chars(text + 2, std::end(text), number, 16).ptr};
}

}  // namespace clrscope
