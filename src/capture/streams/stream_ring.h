// SPDX-License-Identifier: Apache-2.0
// What the drain thread has read of one session and the decoder has not taken yet: a bounded queue
// of bytes. When it is full, whole nettrace blocks are discarded and counted, so that the target is
// always drained and the stream can still be read. Rings of many sessions share a pool of memory:
// when that is used up, those that hold more than their share are full.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "nettrace/framer.h"

namespace clrscope::capture {

class RingPool {
 public:
  explicit RingPool(size_t limit) : limit_(limit) {}
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Waits until no more than `bytes` are left, but not for longer than `longest`.
  void WaitFor(size_t bytes, std::chrono::milliseconds longest) const;

 private:
  friend class StreamRing;
  const size_t limit_;
  std::atomic<size_t> bytes_{0}, rings_{0};
};

class StreamRing {
 public:
  static constexpr size_t kDefaultBytes = 16 << 20;
  explicit StreamRing(size_t capacity = kDefaultBytes, std::shared_ptr<RingPool> pool = nullptr);
  ~StreamRing();
  StreamRing(const StreamRing&) = delete;
  StreamRing& operator=(const StreamRing&) = delete;

  // Drain thread: takes bytes as they come, in pieces of any size. Never blocks on the decoder.
  void Push(Bytes bytes);
  // Drain thread: the stream has ended.
  void Close();

  struct Item {
    std::vector<std::byte> bytes;
    // Discarded before `bytes`.
    uint64_t skipped_bytes = 0, skipped_blocks = 0;
  };
  // Decoder: moves out what is there; false when there is nothing.
  bool Pop(Item& item);
  // Everything was popped and nothing more will come.
  bool exhausted() const;

 private:
  bool Full(size_t more) const;
  void Append(Bytes bytes);

  const size_t capacity_;
  const std::shared_ptr<RingPool> pool_;
  // Drain thread only: where the stream is between objects.
  nettrace::Framer framer_;
  std::vector<std::byte> head_;  // of an object whose kind and length are not known yet
  uint64_t offset_ = 0;          // of head_
  uint64_t left_ = 0;            // bytes of the current object that are still to come
  bool discarding_ = false;      // the current object
  bool framing_lost_ = false;    // damaged: everything is passed on for the reader to explain

  mutable std::mutex mutex_;  // guards what follows
  std::deque<Item> items_;
  size_t bytes_ = 0;
  bool closed_ = false;
  // Of items_ and closed_, so that asking an idle ring costs no lock.
  std::atomic<bool> any_{false};
};

}  // namespace clrscope::capture
