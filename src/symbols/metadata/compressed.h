// SPDX-License-Identifier: Apache-2.0
// Numbers as blobs and signatures hold them: 1, 2 or 4 bytes.
// Source: ECMA-335 §II.23.2
#pragma once

#include <cstdint>

#include "base/byte_reader.h"

namespace clrscope::symbols {

// What is malformed makes the reader fail, and is 0.
inline uint32_t ReadCompressed(ByteReader& in) {
  uint32_t value = in.U8();
  if (value < 0x80) return value;
  if (value >= 0xe0) in.Fail();
  const int more = value < 0xc0 ? 1 : 3;
  value &= more == 1 ? 0x3f : 0x1f;
  for (int i = 0; i < more; ++i) value = value << 8 | in.U8();
  return in.ok() ? value : 0;
}

// The sign is the lowest bit, the others are of 6, 13 or 28 bits.
inline int32_t ReadCompressedSigned(ByteReader& in) {
  const size_t before = in.remaining();
  const uint32_t rotated = ReadCompressed(in);
  const size_t size = before - in.remaining();
  const auto value = static_cast<int32_t>(rotated >> 1);
  if ((rotated & 1) == 0 || !in.ok()) return value;
  return value - (size == 1 ? 0x40 : size == 2 ? 0x2000 : 0x10000000);
}

}  // namespace clrscope::symbols
