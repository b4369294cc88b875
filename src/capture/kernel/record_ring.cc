// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/record_ring.h"

#include <algorithm>
#include <cstring>

namespace clrscope::capture {
namespace {

constexpr size_t kRecordHeader = 8;  // u32 type, u16 misc, u16 size

}  // namespace

void RecordRing::Set(uint64_t tail, uint64_t head) {
  tail_ = tail;
  head_ = head;
  size_ = 0;
  if (head - tail > data_.size()) GiveUp();
}

void RecordRing::GiveUp() {
  tail_ = head_;
  size_ = 0;
  ++malformed_;
}

void RecordRing::Copy(uint64_t from, size_t n, std::byte* to) const {
  const size_t at = from & (data_.size() - 1);
  const size_t first = std::min(n, data_.size() - at);
  std::memcpy(to, data_.data() + at, first);
  if (n > first) std::memcpy(to + first, data_.data(), n - first);
}

Bytes RecordRing::Peek() {
  if (empty()) return {};
  const uint64_t there = head_ - tail_;
  std::byte header[kRecordHeader];
  if (there < kRecordHeader) return GiveUp(), Bytes{};
  Copy(tail_, kRecordHeader, header);
  const size_t size = LoadAt<uint16_t>(header + 6);
  if (size < kRecordHeader || size > there) return GiveUp(), Bytes{};
  size_ = size;
  const size_t at = tail_ & (data_.size() - 1);
  if (at + size <= data_.size()) return data_.subspan(at, size);
  whole_.resize(size);
  Copy(tail_, size, whole_.data());
  return {whole_.data(), size};
}

void RecordRing::Drop() {
  tail_ += size_;
  size_ = 0;
}

}  // namespace clrscope::capture
