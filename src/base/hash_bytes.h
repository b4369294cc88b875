// SPDX-License-Identifier: Apache-2.0
// FNV-1a of 64 bits: for names, which are short.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/byte_reader.h"

namespace clrscope {

inline uint64_t HashBytes(Bytes bytes) {
  uint64_t h = 0xCBF29CE484222325u;
  for (const std::byte b : bytes) h = (h ^ static_cast<uint64_t>(b)) * 0x100000001B3u;
  return h;
}

}  // namespace clrscope
