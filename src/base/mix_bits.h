// SPDX-License-Identifier: Apache-2.0
// A hash of 64 bits in one multiplication: every bit of the key reaches the low bits, which tables
// use as an index.
#pragma once

#include <cstdint>

namespace clrscope {

inline uint64_t MixBits(uint64_t key) {
  __extension__ using Wide = unsigned __int128;  // ISO C++ knows none
  const Wide product = static_cast<Wide>(key) * 0x9E3779B97F4A7C15u;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace clrscope
