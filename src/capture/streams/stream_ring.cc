// SPDX-License-Identifier: Apache-2.0
#include "capture/streams/stream_ring.h"

#include <algorithm>
#include <thread>

namespace clrscope::capture {
namespace {

using nettrace::ObjectKind;

constexpr size_t kItemBytes = 64 << 10;
// Kinds that may be discarded: the others are small and the stream cannot be read without them.
bool MayDiscard(ObjectKind kind) {
  return kind == ObjectKind::kEvents || kind == ObjectKind::kStacks || kind == ObjectKind::kUnknown;
}

}  // namespace

void RingPool::WaitFor(size_t bytes, std::chrono::milliseconds longest) const {
  constexpr std::chrono::milliseconds kLookEvery{2};
  const auto deadline = std::chrono::steady_clock::now() + longest;
  while (bytes_ > bytes && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(kLookEvery);
}

StreamRing::StreamRing(size_t capacity, std::shared_ptr<RingPool> pool)
    : capacity_(capacity), pool_(std::move(pool)) {
  if (pool_) ++pool_->rings_;
}

StreamRing::~StreamRing() {
  if (!pool_) return;
  --pool_->rings_;
  pool_->bytes_ -= bytes_;
}

bool StreamRing::Full(size_t more) const {
  if (bytes_ + more > capacity_) return true;
  return pool_ && pool_->bytes_ + more > pool_->limit_ &&
         bytes_ + more > pool_->limit_ / std::max<size_t>(1, pool_->rings_);
}

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
      if (MayDiscard(object->announced) && Full(object->size)) {
        discarding_ = true;
        if (items_.empty() || !items_.back().bytes.empty()) items_.emplace_back();
        items_.back().skipped_bytes += object->size;
        ++items_.back().skipped_blocks;
        any_.store(true, std::memory_order_release);
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
  if (pool_) pool_->bytes_ += bytes.size();
  any_.store(true, std::memory_order_release);
}

void StreamRing::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  any_.store(true, std::memory_order_release);
  if (head_.empty()) return;
  // A cut head: let the reader say so.
  items_.emplace_back();
  items_.back().bytes = std::move(head_);
  head_.clear();
}

bool StreamRing::Pop(Item& item) {
  if (!any_.load(std::memory_order_acquire)) return false;
  const std::lock_guard lock(mutex_);
  if (items_.empty()) return false;
  item = std::move(items_.front());
  items_.pop_front();
  if (items_.empty() && !closed_) any_.store(false, std::memory_order_relaxed);
  const size_t taken = std::min(bytes_, item.bytes.size());
  bytes_ -= taken;
  if (pool_) pool_->bytes_ -= taken;
  return true;
}

bool StreamRing::exhausted() const {
  if (!any_.load(std::memory_order_acquire)) return false;
  const std::lock_guard lock(mutex_);
  return closed_ && items_.empty();
}

}  // namespace clrscope::capture
