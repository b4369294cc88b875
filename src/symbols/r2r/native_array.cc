// SPDX-License-Identifier: Apache-2.0
#include "symbols/r2r/native_array.h"

#include <algorithm>

namespace clrscope::symbols {
namespace {

constexpr uint32_t kBlockSize = 16;

}  // namespace

uint32_t ReadNativeUnsigned(ByteReader& in) {
  const uint32_t first = in.U8();
  for (unsigned more = 0; more < 4; ++more) {
    if ((first >> more & 1) != 0) continue;
    uint32_t value = first >> (more + 1);
    for (unsigned i = 0; i < more; ++i) value |= uint32_t{in.U8()} << (8 * i + 7 - more);
    return in.ok() ? value : 0;
  }
  if ((first & 0x10) != 0) in.Fail();
  return in.U32();
}

NativeArray::NativeArray(Bytes section) : section_(section) {
  ByteReader in(section);
  const uint32_t header = ReadNativeUnsigned(in);
  base_ = in.position();
  offset_size_ = (header & 3) == 0 ? 1 : (header & 3) == 1 ? 2 : 4;
  // Each block has an offset at least.
  const uint64_t blocks = in.remaining() / offset_size_;
  size_ = static_cast<uint32_t>(std::min<uint64_t>(header >> 2, blocks * kBlockSize));
}

std::optional<uint32_t> NativeArray::Find(uint32_t index) const {
  if (index >= size_) return std::nullopt;
  ByteReader block(section_.subspan(base_ + size_t{index / kBlockSize} * offset_size_));
  uint64_t at = base_;
  at += offset_size_ == 1 ? block.U8() : offset_size_ == 2 ? block.U16() : block.U32();
  // A binary tree by the bits of the index: its left branch follows, its right one is told.
  for (uint32_t bit = kBlockSize / 2; bit != 0; bit /= 2) {
    if (at >= section_.size()) return std::nullopt;
    ByteReader in(section_.subspan(static_cast<size_t>(at)));
    const uint32_t node = ReadNativeUnsigned(in);
    if (!in.ok()) return std::nullopt;
    const bool right = (index & bit) != 0;
    if (right && (node & 2) != 0) {
      at += node >> 2;
    } else if (!right && (node & 1) != 0) {
      at += in.position();
    } else if ((node & 3) == 0 && node >> 2 == index % kBlockSize) {
      at += in.position();  // a leaf: the only index below
      break;
    } else {
      return std::nullopt;
    }
  }
  if (at >= section_.size()) return std::nullopt;
  return static_cast<uint32_t>(at);
}

}  // namespace clrscope::symbols
