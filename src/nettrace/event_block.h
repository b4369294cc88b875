// SPDX-License-Identifier: Apache-2.0
// Decodes the rows of EventBlocks and V4/V5 MetadataBlocks, compressed or not.
// Source: microsoft/perfview src/TraceEvent/EventPipe/NetTraceFormat_v5.md, NetTraceFormat.md;
// dotnet/runtime src/native/eventpipe/ep-block.c (the writer)
#pragma once

#include <cstdint>

#include "base/byte_reader.h"
#include "nettrace/event_row.h"
#include "nettrace/unchecked_reader.h"

namespace clrscope::nettrace {

class EventBlockReader {
 public:
  // `content`: an EventBlock or MetadataBlock with its header. Check ok() before the first Next().
  EventBlockReader(Bytes content, uint32_t version);

  // The next row, valid until the next call; null at the end and on damage (then ok() is false
  // too). Inlined where rows are taken: every event passes here.
  [[gnu::always_inline]] const EventRow* Next() {
    if (reader_.remaining() == 0) return nullptr;
    return (compressed_ ? NextCompressed() : NextUncompressed()) ? &row_ : nullptr;
  }
  const RowOrder& order() const { return order_; }  // of that row
  bool ok() const { return reader_.ok(); }
  size_t position() const { return reader_.ok() ? reader_.position() : last_position_; }

 private:
  // What a compressed header has; what it lacks is as in the row before.
  enum Flag : uint8_t {
    kMetadataId = 1,
    kCaptureThread = 2,  // and sequence number, and processor
    kThreadId = 4,
    kStackId = 8,
    kActivity = 16,  // V6: label list
    kRelatedActivity = 32,
    kSorted = 64,
    kPayloadSize = 128,
  };
  // All fields of a compressed header at their longest.
  static constexpr size_t kMaxHeaderBytes = 1 + 5 + 5 + 10 + 5 + 10 + 5 + 10 + 16 + 16 + 5;

  [[gnu::always_inline]] bool NextCompressed() {
    last_position_ = reader_.position();
    if (reader_.remaining() >= kMaxHeaderBytes) {
      UncheckedReader r{reader_.data()};
      DecodeHeader(r);
      if (r.bad) return Fail();
      reader_.Skip(static_cast<size_t>(r.pos - reader_.data()));
    } else {
      DecodeLastHeaders();
    }
    row_.payload = reader_.Take(row_.payload_size).data();
    if (!reader_.ok()) return false;
    if (any_activity_) SetActivities();
    return true;
  }
  // `Source` reads bytes and variable-length integers.
  template <class Source>
  [[gnu::always_inline]] void DecodeHeader(Source& r) {
    EventRow& s = row_;
    const uint8_t flags = r.U8();
    if (flags & kMetadataId) s.metadata_id = r.VarU32();
    if (flags & kCaptureThread) {
      order_.sequence += r.VarU32() + 1;
      order_.capture_thread = r.VarU64();
      (void)r.VarU32();  // processor
    } else if (version_ >= 6 || s.metadata_id != 0) {
      order_.sequence += 1;
    }
    if (flags & kThreadId) s.thread = r.VarU64();
    if (flags & kStackId) s.stack_id = r.VarU32();
    s.time = static_cast<int64_t>(static_cast<uint64_t>(s.time) + r.VarU64());
    if (version_ >= 6) {
      if (flags & kActivity) s.label_list = r.VarU32();
    } else if (flags & (kActivity | kRelatedActivity)) {
      any_activity_ = true;
      if (flags & kActivity) activity_ = Guid(r.Take(16));
      if (flags & kRelatedActivity) related_activity_ = Guid(r.Take(16));
    }
    order_.sorted = (flags & kSorted) != 0;
    if (flags & kPayloadSize) s.payload_size = r.VarU32();
  }
  void DecodeLastHeaders();  // near the block's end, where each byte is checked
  bool NextUncompressed();
  bool Fail();
  static const std::byte* Guid(Bytes bytes);  // null when all of it is zero
  void SetActivities() {
    row_.activity_back = Back(activity_);
    row_.related_back = Back(related_activity_);
  }
  uint32_t Back(const std::byte* id) const {
    return id == nullptr ? 0 : static_cast<uint32_t>(row_.payload - id);
  }

  ByteReader reader_;
  uint32_t version_;
  bool compressed_ = false;
  // An absent field keeps the previous row's value.
  EventRow row_;
  RowOrder order_;
  const std::byte* activity_ = nullptr;  // null = none
  const std::byte* related_activity_ = nullptr;
  bool any_activity_ = false;  // a header had one, perhaps of zeros
  size_t last_position_ = 0;
};

}  // namespace clrscope::nettrace
