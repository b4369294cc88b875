// SPDX-License-Identifier: Apache-2.0
// A sparse array of a precompiled image: index → offset of what belongs to it.
// Source: dotnet/runtime src/coreclr/vm/nativeformatreader.h,
// src/coreclr/tools/aot/ILCompiler.Reflection.ReadyToRun/NativeArray.cs
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/byte_reader.h"

namespace clrscope::symbols {

// A number of 1 to 5 bytes: the low bits of the first say how many. What is malformed makes the
// reader fail, and is 0.
uint32_t ReadNativeUnsigned(ByteReader& in);

// View of a section that begins with the array.
class NativeArray {
 public:
  NativeArray() = default;
  // One that is damaged is empty.
  explicit NativeArray(Bytes section);

  uint32_t size() const { return size_; }
  // The offset in the section; nothing: the index has none.
  std::optional<uint32_t> Find(uint32_t index) const;

 private:
  Bytes section_;
  uint32_t size_ = 0;
  size_t base_ = 0;           // of all offsets
  uint32_t offset_size_ = 1;  // bytes, of an entry of the index of blocks
};

}  // namespace clrscope::symbols
