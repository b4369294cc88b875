// SPDX-License-Identifier: Apache-2.0
#include "symbols/lines/il_map.h"

#include <algorithm>
#include <utility>

namespace clrscope::symbols {

IlMap::IlMap(std::vector<IlMapEntry> entries) : entries_(std::move(entries)) {
  std::stable_sort(entries_.begin(), entries_.end(), [](const IlMapEntry& a, const IlMapEntry& b) {
    return std::pair(a.native_offset, a.il_offset >= 0) <
           std::pair(b.native_offset, b.il_offset >= 0);
  });
}

uint32_t IlMap::IlOffsetAt(uint32_t native_offset, AddressKind kind) const {
  if (kind == AddressKind::kReturn && native_offset != 0) --native_offset;
  auto after = std::upper_bound(
      entries_.begin(), entries_.end(), native_offset,
      [](uint32_t offset, const IlMapEntry& entry) { return offset < entry.native_offset; });
  while (after != entries_.begin())
    if (const int32_t il = (--after)->il_offset; il >= 0) return static_cast<uint32_t>(il);
  return 0;
}

uint32_t IlMap::NextMapped(uint32_t il_offset) const {
  uint32_t next = ~uint32_t{0};
  for (const IlMapEntry& entry : entries_)
    if (entry.il_offset >= 0 && static_cast<uint32_t>(entry.il_offset) > il_offset)
      next = std::min(next, static_cast<uint32_t>(entry.il_offset));
  return next;
}

}  // namespace clrscope::symbols
