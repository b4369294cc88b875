// SPDX-License-Identifier: Apache-2.0
#include "capture/stream_ring.h"

#include <algorithm>

namespace clrscope::capture {
namespace {

using nettrace::ObjectKind;

constexpr size_t kItemBytes = 256 << 10;
// Kinds that may be discarded: the others are small and the stream cannot be read without them.
bool MayDiscard(ObjectKind kind) {
  return kind == ObjectKind::kEvents || kind == ObjectKind::kStacks || kind == ObjectKind::kUnknown;
}

}  // namespace

void StreamRing::Push(Bytes bytes) {
  while (!bytes.empty()) {
    if (framing_lost_) return Append(bytes);
    if (left_ != 0) {
      const size_t n = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
      if (!discarding_) Append(bytes.first(n));
      left_ -= n;
      bytes = bytes.subspan(n);
      continue;
    }
    // Between objects: collect until the framer knows what comes.
    const size_t before = head_.size();
    constexpr size_t kHeadBytes = 512;  // more than any object's head, or a whole small object
    const size_t n = std::min(bytes.size(), kHeadBytes - std::min(before, kHeadBytes - 1));
    head_.insert(head_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    auto object = framer_.Next(head_, offset_);
    if (!object.ok()) {
      framing_lost_ = true;
      Append(head_);
      head_.clear();
      bytes = bytes.subspan(n);
      continue;
    }
    if (object->announced == ObjectKind::kNeedMore) {
      bytes = bytes.subspan(n);
      continue;
    }
    const size_t in_head = std::min(head_.size(), object->size);
    // Bytes that head_ took beyond this object are still in `bytes`.
    bytes = bytes.subspan(in_head - std::min(in_head, before));
    head_.resize(in_head);
    left_ = object->size - in_head;
    discarding_ = false;
    {
      const std::lock_guard lock(mutex_);
      if (MayDiscard(object->announced) && bytes_ + object->size > capacity_) {
        discarding_ = true;
        if (items_.empty() || !items_.back().bytes.empty()) items_.emplace_back();
        items_.back().skipped_bytes += object->size;
        ++items_.back().skipped_blocks;
      }
    }
    if (!discarding_) Append(head_);
    offset_ += object->size;
    head_.clear();
    if (object->announced == ObjectKind::kEnd)
      framing_lost_ = true;  // nothing follows that has a form
  }
}

void StreamRing::Append(Bytes bytes) {
  const std::lock_guard lock(mutex_);
  if (items_.empty() || items_.back().bytes.size() + bytes.size() > kItemBytes)
    items_.emplace_back();
  std::vector<std::byte>& to = items_.back().bytes;
  to.insert(to.end(), bytes.begin(), bytes.end());
  bytes_ += bytes.size();
}

void StreamRing::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  if (head_.empty()) return;
  // A cut head: let the reader say so.
  items_.emplace_back();
  items_.back().bytes = std::move(head_);
}

bool StreamRing::Pop(Item& item) {
  const std::lock_guard lock(mutex_);
  if (items_.empty()) return false;
  item = std::move(items_.front());
  items_.pop_front();
  bytes_ -= std::min(bytes_, item.bytes.size());
  return true;
}

bool StreamRing::exhausted() const {
  const std::lock_guard lock(mutex_);
  return closed_ && items_.empty();
}

}  // namespace clrscope::capture
