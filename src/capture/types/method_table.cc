// SPDX-License-Identifier: Apache-2.0
#include "capture/types/method_table.h"

#include <array>
#include <cstddef>

#include "base/byte_reader.h"

namespace clrscope::capture {
namespace {

constexpr size_t kFlagsAt = 0, kFlags2At = 8, kModuleAt = 24, kElementAt = 48, kSize = 56;
constexpr uint32_t kCategoryMask = 0xc0000, kCategoryArray = 0x80000;
constexpr uint32_t kTypeDefTable = 0x02000000;
constexpr uint64_t kTypeDescBit = 2;  // a pointer, a type parameter: no MethodTable

// The row of TypeDef; 0: it lies elsewhere.
uint32_t RowIn(const std::byte* table, int clr_major) {
  constexpr uint16_t kOverflow = 0xffff;
  if (clr_major >= 9) return LoadAt<uint32_t>(table + kFlags2At) >> 8;
  const auto row = LoadAt<uint16_t>(table + kFlags2At + 2);
  return row == kOverflow ? 0 : row;
}

}  // namespace

std::optional<DefinedAt> ReadDefinition(ProcessMemory& memory, uint64_t type_id, int clr_major) {
  constexpr int kMostRanks = 32;
  constexpr int kFirstMajor = 8;
  if (clr_major < kFirstMajor) return std::nullopt;
  std::array<std::byte, kSize> table;
  for (int i = 0; i < kMostRanks; ++i) {
    if (type_id == 0 || (type_id & kTypeDescBit) != 0 ||
        memory.Read(type_id, table) != table.size())
      return std::nullopt;
    if ((LoadAt<uint32_t>(table.data() + kFlagsAt) & kCategoryMask) != kCategoryArray) {
      const uint32_t row = RowIn(table.data(), clr_major);
      if (row == 0) return std::nullopt;
      return DefinedAt{LoadAt<uint64_t>(table.data() + kModuleAt), kTypeDefTable | row};
    }
    type_id = LoadAt<uint64_t>(table.data() + kElementAt);
  }
  return std::nullopt;
}

}  // namespace clrscope::capture
