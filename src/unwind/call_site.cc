// SPDX-License-Identifier: Apache-2.0
#include "unwind/call_site.h"

#include <cstdint>

namespace clrscope::unwind {

bool EndsWithCall(Bytes code) {
  const auto at = [&](size_t back) {
    return back <= code.size() ? std::to_integer<uint8_t>(code[code.size() - back]) : uint8_t{0};
  };
  if (at(5) == 0xe8) return true;
  for (size_t length = 2; length <= 7; ++length) {
    if (at(length) != 0xff) continue;
    const uint8_t operand = at(length - 1);
    if ((operand >> 3 & 7) != 2) continue;
    const uint8_t mode = operand >> 6, base = operand & 7;
    size_t expected = 2;
    if (mode != 3 && base == 4) {
      ++expected;  // SIB
      if (mode == 0 && length >= 3 && (at(length - 2) & 7) == 5) expected += 4;
    }
    if (mode == 1) expected += 1;
    if (mode == 2 || (mode == 0 && base == 5)) expected += 4;
    if (expected == length) return true;
  }
  return false;
}

}  // namespace clrscope::unwind
