// SPDX-License-Identifier: Apache-2.0
// Decodes the rows of EventBlocks and V4/V5 MetadataBlocks, compressed or not.
// Source: microsoft/perfview src/TraceEvent/EventPipe/NetTraceFormat_v5.md, NetTraceFormat.md;
// dotnet/runtime src/native/eventpipe/ep-block.c (the writer)
#pragma once

#include <cstdint>

#include "base/byte_reader.h"
#include "base/result.h"
#include "clr/raw_event.h"

namespace clrscope::nettrace {

// What is kept of a row while it waits for its turn.
struct EventRow {
  int64_t time = 0;  // ticks
  const std::byte* payload = nullptr;
  uint64_t thread = 0;  // V6: index into the thread table
  uint32_t payload_size = 0;
  uint32_t metadata_id = 0;
  uint32_t stack_id = 0;
  uint32_t label_list = 0;  // V6; 0 = none
  // V4, V5: how many bytes before the payload the id lies, perhaps in an earlier row; 0 = none.
  uint32_t activity_back = 0;
  uint32_t related_back = 0;

  const clr::ActivityId* activity() const { return Guid(activity_back); }
  const clr::ActivityId* related_activity() const { return Guid(related_back); }

  // Copies payload and ids to `to`, refers to the copy from now on, and returns where that ends.
  size_t owned_bytes() const { return kOwnedIds + payload_size; }  // at most
  std::byte* Own(std::byte* to);

 private:
  static constexpr size_t kOwnedIds = 2 * sizeof(clr::ActivityId);
  const clr::ActivityId* Guid(uint32_t back) const {
    // An array of bytes: no alignment.
    return back == 0 ? nullptr : reinterpret_cast<const clr::ActivityId*>(payload - back);
  }
};

// What decides about a row's turn.
struct RowOrder {
  uint64_t capture_thread = 0;  // V6: index into the thread table
  uint32_t sequence = 0;
  bool sorted = false;  // nothing later in the stream is older
};

class EventBlockReader {
 public:
  // `content`: an EventBlock or MetadataBlock with its header. Check ok() before the first Next().
  EventBlockReader(Bytes content, uint32_t version);

  // The next row, valid until the next call; null at the end and on damage (then ok() is false
  // too).
  const EventRow* Next() {
    if (reader_.remaining() == 0) return nullptr;
    return (compressed_ ? NextCompressed() : NextUncompressed()) ? &row_ : nullptr;
  }
  const RowOrder& order() const { return order_; }  // of that row
  bool ok() const { return reader_.ok(); }
  size_t position() const { return reader_.ok() ? reader_.position() : last_position_; }

 private:
  template <class Source>
  void DecodeHeader(Source& source);
  bool NextCompressed();
  bool NextUncompressed();
  void SetActivities();

  ByteReader reader_;
  uint32_t version_;
  bool compressed_ = false;
  // An absent field keeps the previous row's value.
  EventRow row_;
  RowOrder order_;
  const std::byte* activity_ = nullptr;  // null = none
  const std::byte* related_activity_ = nullptr;
  size_t last_position_ = 0;
};

}  // namespace clrscope::nettrace
