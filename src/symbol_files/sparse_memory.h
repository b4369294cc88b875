// SPDX-License-Identifier: Apache-2.0
// Room as long as a file of which only parts are wanted: what nobody writes is 0 and takes no
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/result.h"

namespace clrscope::symbol_files {

class SparseMemory {
 public:
  // errors: kRefused when there is no room for so many addresses
  static Result<SparseMemory> Of(uint64_t size);
  SparseMemory(SparseMemory&& o) noexcept : bytes_(std::exchange(o.bytes_, {})) {}
  SparseMemory& operator=(SparseMemory&&) = delete;
  ~SparseMemory();

  std::span<std::byte> bytes() const { return bytes_; }  // they stay where they are when it moves

 private:
  explicit SparseMemory(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::span<std::byte> bytes_;  // mapped
};

}  // namespace clrscope::symbol_files
