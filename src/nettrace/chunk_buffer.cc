// SPDX-License-Identifier: Apache-2.0
#include "nettrace/chunk_buffer.h"

#include <algorithm>
#include <cstring>

namespace clrscope::nettrace {
namespace {
constexpr size_t kSmallestRead = 16 << 10;
// A sequence point comes every 10 MB or so: as many chunks go round without asking the system.
constexpr size_t kSpareChunks = 14;
}  // namespace

ChunkBuffer::Chunk ChunkBuffer::NewChunk(size_t size) {
  if (size <= chunk_bytes_ && !spare_.empty()) {
    Chunk c = std::move(spare_.back());
    spare_.pop_back();
    return c;
  }
  size = std::max(size, chunk_bytes_);
  return {std::unique_ptr<std::byte[]>(new std::byte[size]), size};
}

std::span<std::byte> ChunkBuffer::Prepare(size_t needed) {
  const size_t tail = filled_ - consumed_;
  const size_t room = current_.size - filled_;
  if (room < kSmallestRead || (needed > tail && needed - tail > room)) {
    Chunk next = NewChunk(std::max(needed, tail) + kSmallestRead);
    if (tail != 0) std::memcpy(next.data.get(), current_.data.get() + consumed_, tail);
    if (current_.data) {
      retained_bytes_ += current_.size;
      retained_.push_back(std::move(current_));
    }
    current_ = std::move(next);
    filled_ = tail;
    consumed_ = 0;
  }
  return {current_.data.get() + filled_, std::min(current_.size - filled_, kMaxReadBytes)};
}

void ChunkBuffer::Release() {
  for (Chunk& c : retained_)
    if (c.size == chunk_bytes_ && spare_.size() < kSpareChunks) spare_.push_back(std::move(c));
  retained_.clear();
  retained_bytes_ = 0;
}

void ChunkBuffer::Shrink() {
  Release();
  spare_.clear();
  const size_t tail = filled_ - consumed_;
  Chunk next;
  if (tail != 0) {
    next = {std::unique_ptr<std::byte[]>(new std::byte[tail]), tail};
    std::memcpy(next.data.get(), current_.data.get() + consumed_, tail);
  }
  current_ = std::move(next);
  filled_ = tail;
  consumed_ = 0;
}

}  // namespace clrscope::nettrace
