// SPDX-License-Identifier: Apache-2.0
// Native code → IL, by the map that the JIT or a precompiled image has for a method.
#pragma once

#include <cstdint>
#include <vector>

namespace clrscope::symbols {

struct IlMapEntry {
  static constexpr int32_t kNoMapping = -1, kProlog = -2, kEpilog = -3;
  uint32_t native_offset = 0;  // from the method's first instruction
  int32_t il_offset = 0;       // or one of those above
  bool operator==(const IlMapEntry&) const = default;
};

// What an address in a frame points to.
enum class AddressKind : uint8_t {
  kReturn,       // the instruction after a call
  kInstruction,  // the one that runs
};

// One version of a method's code. The map may come in any order, with entries of no length: the
// runtime's have both.
class IlMap {
 public:
  IlMap() = default;
  explicit IlMap(std::vector<IlMapEntry> entries);

  bool empty() const { return entries_.empty(); }
  // By native offset; where several have the same, those that mean IL come last.
  const std::vector<IlMapEntry>& entries() const { return entries_; }

  // The IL that the code at `native_offset` was made of: that of the last entry at or before it
  // which means IL, 0 where none does. Inlined code counts as its call.
  uint32_t IlOffsetAt(uint32_t native_offset, AddressKind kind) const;
  // The next IL after `il_offset` that has code of its own; the largest number: none. What lies
  // between has been merged into the code before.
  uint32_t NextMapped(uint32_t il_offset) const;

 private:
  std::vector<IlMapEntry> entries_;
};

}  // namespace clrscope::symbols
