// SPDX-License-Identifier: Apache-2.0
// The records that lie in a ring of 2^n bytes between two places, which only ever grow. Pure: who
// maps the ring reads and writes the places.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/byte_reader.h"

namespace clrscope::capture {

class RecordRing {
 public:
  RecordRing() = default;
  // `data.size()` is a power of two; the ring is empty.
  explicit RecordRing(Bytes data) : data_(data) {}

  // What lies from `tail` to `head` is there.
  void Set(uint64_t tail, uint64_t head);
  // The next record with its header, until Drop() or Set(); empty: there is none. What contradicts
  // itself ends the ring: all is dropped, and counted once.
  Bytes Peek();
  void Drop();

  uint64_t tail() const { return tail_; }
  bool empty() const { return tail_ == head_; }
  // How often it was given up since the last call.
  uint64_t TakeMalformed() { return std::exchange(malformed_, 0); }

 private:
  void Copy(uint64_t from, size_t n, std::byte* to) const;
  void GiveUp();

  Bytes data_;
  uint64_t tail_ = 0, head_ = 0;
  size_t size_ = 0;               // of the record that Peek() returned
  std::vector<std::byte> whole_;  // one that wraps around, in one piece
  uint64_t malformed_ = 0;
};

}  // namespace clrscope::capture
