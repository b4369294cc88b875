// SPDX-License-Identifier: Apache-2.0
// A GUID as it lies in memory and in files: the first three fields are little-endian.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace clrscope {

struct Guid {
  uint32_t a;
  uint16_t b, c;
  uint8_t d[8];
  bool operator==(const Guid& o) const { return std::memcmp(this, &o, sizeof o) == 0; }
};
static_assert(sizeof(Guid) == 16);

// "3f5162f8-07c6-11d3-9053-00c04fa302a1"
inline std::string GuidText(const Guid& guid) {
  std::string out;
  const auto put = [&out](uint64_t value, int digits) {
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
      out += "0123456789abcdef"[value >> shift & 15];
  };
  put(guid.a, 8);
  out += '-';
  put(guid.b, 4);
  out += '-';
  put(guid.c, 4);
  for (int i = 0; i < 8; ++i) {
    if (i == 0 || i == 2) out += '-';
    put(guid.d[i], 2);
  }
  return out;
}

// "3f5162f807c611d3905300c04fa302a1": as symbol servers and the agent's tables have it.
inline std::string GuidKey(const Guid& guid) {
  std::string key = GuidText(guid);
  std::erase(key, '-');
  return key;
}

}  // namespace clrscope
