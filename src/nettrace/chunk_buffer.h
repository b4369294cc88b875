// SPDX-License-Identifier: Apache-2.0
// The stream's bytes between two sequence points. Blocks are parsed where they were received,
// events and stacks point into them, and a sequence point releases them all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/byte_reader.h"

namespace clrscope::nettrace {

class ChunkBuffer {
 public:
  static constexpr size_t kMaxReadBytes = 256 << 10;

  explicit ChunkBuffer(size_t chunk_bytes) : chunk_bytes_(chunk_bytes) {}

  // Room for the next bytes of the stream, never empty. `needed`: how many bytes the object that
  // begins at the first unconsumed byte is known to need in all.
  std::span<std::byte> Prepare(size_t needed);
  void Commit(size_t n) { filled_ += n; }

  // Bytes that are there and not consumed; contiguous.
  Bytes pending() const { return {current_.data.get() + consumed_, filled_ - consumed_}; }
  void Consume(size_t n) { consumed_ += n; }

  // Forgets everything that was consumed: no pointer into it may be used any more.
  void Release();
  // The same, and gives back all memory but what the unconsumed bytes need.
  void Shrink();
  size_t retained_bytes() const { return retained_bytes_; }

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> data;
    size_t size = 0;
  };

  Chunk NewChunk(size_t size);

  size_t chunk_bytes_;
  Chunk current_;
  size_t filled_ = 0, consumed_ = 0;
  std::vector<Chunk> retained_;
  std::vector<Chunk> spare_;  // of chunk_bytes_ each
  size_t retained_bytes_ = 0;
};

}  // namespace clrscope::nettrace
