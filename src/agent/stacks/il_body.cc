// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/il_body.h"

#include <cstring>

namespace clrscope::agent {
namespace {

constexpr uint32_t kFormatMask = 3, kTiny = 2, kFat = 3, kMoreSections = 8;
constexpr uint32_t kSectionEh = 0x01, kSectionFat = 0x40, kSectionMore = 0x80;
constexpr uint32_t kClauseFilter = 1;
constexpr size_t kFatHeader = 12, kSectionHeader = 4, kSmallClause = 12, kFatClause = 24;

// Little endian; 0 beyond the end.
uint32_t LittleEndian(Bytes bytes, size_t at, size_t width) {
  uint32_t v = 0;
  if (at + width <= bytes.size()) std::memcpy(&v, bytes.data() + at, width);
  return v;
}

}  // namespace

bool HasFilter(Bytes body) {
  const uint32_t format = LittleEndian(body, 0, 1) & kFormatMask;
  if (body.empty() || (format != kTiny && format != kFat)) return true;
  if (format == kTiny) return false;
  if (body.size() < kFatHeader) return true;
  if ((LittleEndian(body, 0, 2) & kMoreSections) == 0) return false;
  size_t at = kFatHeader + size_t{LittleEndian(body, 4, 4)};
  for (;;) {
    at = (at + 3) / 4 * 4;
    if (at + kSectionHeader > body.size()) return true;
    const uint32_t kind = LittleEndian(body, at, 1);
    const bool fat = (kind & kSectionFat) != 0;
    const size_t size = fat ? LittleEndian(body, at, 4) >> 8 : LittleEndian(body, at + 1, 1);
    if (size < kSectionHeader || size > body.size() - at) return true;
    const size_t clause = fat ? kFatClause : kSmallClause;
    if ((kind & kSectionEh) != 0)
      for (size_t c = at + kSectionHeader; c + clause <= at + size; c += clause)
        if ((LittleEndian(body, c, fat ? 4 : 2) & kClauseFilter) != 0) return true;
    if ((kind & kSectionMore) == 0) return false;
    at += size;
  }
}

}  // namespace clrscope::agent
