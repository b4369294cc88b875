// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/byte_reader.h"

namespace clrscope::nettrace {

// Bytes and variable-length integers where enough bytes are known to be there, so that none is
// checked for the end.
struct UncheckedReader {
  const std::byte* pos;
  bool bad = false;

  uint8_t U8() { return static_cast<uint8_t>(*pos++); }
  Bytes Take(size_t n) {
    const Bytes out{pos, n};
    pos += n;
    return out;
  }
  uint32_t VarU32() {
    const uint64_t v = Var(5);
    if (v > 0xFFFFFFFFu) bad = true;
    return static_cast<uint32_t>(v);
  }
  uint64_t VarU64() { return Var(10); }
  uint64_t Var(unsigned max_bytes) {
    const auto first = static_cast<uint8_t>(*pos++);
    if (first < 0x80) return first;
    uint64_t value = first & 0x7F;
    for (unsigned i = 1; i < max_bytes; ++i) {
      const auto b = static_cast<uint8_t>(*pos++);
      if (i == 9 && b > 1) break;
      value |= static_cast<uint64_t>(b & 0x7F) << (7 * i);
      if (b < 0x80) return value;
    }
    bad = true;
    return 0;
  }
};

}  // namespace clrscope::nettrace
