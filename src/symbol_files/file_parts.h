// SPDX-License-Identifier: Apache-2.0
// A file of which only parts are wanted, at their places: what was not read is zero and takes no
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/byte_reader.h"
#include "base/result.h"
#include "symbol_files/open_file.h"
#include "symbol_files/sparse_memory.h"

namespace clrscope::symbol_files {

class FileParts {
 public:
  // Of `size` bytes from `offset` on. errors: kRefused when there is no room for so many addresses
  static Result<FileParts> Of(std::shared_ptr<const OpenFile> file, uint64_t offset, uint64_t size);

  Bytes bytes() const { return memory_.bytes(); }
  // Copies a part of bytes() from the file; what the file has lost stays zero. errors: kIo
  Status Fill(Bytes part);

 private:
  FileParts(std::shared_ptr<const OpenFile> file, uint64_t offset, SparseMemory memory)
      : file_(std::move(file)), offset_(offset), memory_(std::move(memory)) {}

  std::shared_ptr<const OpenFile> file_;
  uint64_t offset_;
  SparseMemory memory_;
};

}  // namespace clrscope::symbol_files
