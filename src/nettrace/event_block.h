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
  // too).
  const EventRow* Next() {
    if (reader_.remaining() == 0) return nullptr;
    return (compressed_ ? NextCompressed(reader_, state_) : NextUncompressed()) ? &state_.row
                                                                                : nullptr;
  }
  const RowOrder& order() const { return state_.order; }  // of that row
  // take(row, order) for each. Inlined, with the state in registers: every event passes here.
  template <class Take>
  [[gnu::always_inline]] void ForEach(Take&& take) {
    if (!compressed_) {
      while (const EventRow* row = Next()) take(*row, order());
      return;
    }
    ByteReader reader = reader_;
    State state = state_;
    while (reader.remaining() != 0 && NextCompressed(reader, state)) take(state.row, state.order);
    reader_ = reader;
  }
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
  static constexpr uint8_t kRare =
      kCaptureThread | kThreadId | kActivity | kRelatedActivity | kSorted;
  // All fields of a compressed header at their longest.
  static constexpr size_t kMaxHeaderBytes = 1 + 5 + 5 + 10 + 5 + 10 + 5 + 10 + 16 + 16 + 5;

  // What goes on from row to row: an absent field keeps the previous one's value.
  struct State {
    EventRow row;
    RowOrder order;
    const std::byte* activity = nullptr;  // null = none
    const std::byte* related_activity = nullptr;
    bool any_activity = false;  // a header had one, perhaps of zeros
    bool started = false;       // a row came before

    void SetActivities() {
      row.activity_back = Back(activity);
      row.related_back = Back(related_activity);
    }
    uint32_t Back(const std::byte* id) const {
      return id == nullptr ? 0 : static_cast<uint32_t>(row.payload - id);
    }
  };

  [[gnu::always_inline]] bool NextCompressed(ByteReader& reader, State& state) {
    const size_t position = reader.position();
    if (reader.remaining() >= kMaxHeaderBytes) {
      UncheckedReader r{reader.data()};
      DecodeHeader(r, state);
      if (r.bad) return FailAt(reader, position);
      reader.Skip(static_cast<size_t>(r.pos - reader.data()));
    } else {
      State last = state;
      DecodeLastHeaders(reader, last);
      state = last;
    }
    state.row.payload = reader.Take(state.row.payload_size).data();
    if (!reader.ok()) return FailAt(reader, position);
    if (state.any_activity) state.SetActivities();
    return true;
  }
  // `Source` reads bytes and variable-length integers.
  template <class Source>
  [[gnu::always_inline]] void DecodeHeader(Source& r, State& state) const {
    EventRow& s = state.row;
    RowOrder& order = state.order;
    const uint8_t flags = r.U8();
    // Mostly the same thread goes on with another event.
    const bool rare = version_ >= 6 || (flags & kRare) != 0;
    if (flags & kMetadataId) s.metadata_id = r.VarU32();
    order.follows = state.started;
    if (rare) {
      if (flags & kCaptureThread) {
        order.follows = false;
        order.sequence += r.VarU32() + 1;
        order.capture_thread = r.VarU64();
        (void)r.VarU32();  // processor
      } else if (version_ >= 6 || s.metadata_id != 0) {
        order.sequence += 1;
      }
      if (flags & kThreadId) s.thread = r.VarU64();
    } else if (s.metadata_id != 0) {
      order.sequence += 1;
    }
    if (flags & kStackId) s.stack_id = r.VarU32();
    s.time = static_cast<int64_t>(static_cast<uint64_t>(s.time) + r.VarU64());
    order.sorted = (flags & kSorted) != 0;
    if (rare || !state.started) {
      if (version_ >= 6) {
        if (flags & kActivity) s.label_list = r.VarU32();
      } else if (flags & (kActivity | kRelatedActivity)) {
        state.any_activity = true;
        if (flags & kActivity) state.activity = Guid(r.Take(16));
        if (flags & kRelatedActivity) state.related_activity = Guid(r.Take(16));
      }
      order.plain = !state.any_activity && s.label_list == 0 && s.thread == order.capture_thread;
      state.started = true;
    }
    if (flags & kPayloadSize) s.payload_size = r.VarU32();
  }
  // Near the block's end, where each byte is checked.
  void DecodeLastHeaders(ByteReader& reader, State& state) const;
  bool NextUncompressed();
  bool FailAt(ByteReader& reader, size_t position);
  static const std::byte* Guid(Bytes bytes);  // null when all of it is zero

  ByteReader reader_;
  uint32_t version_;
  bool compressed_ = false;
  State state_;
  size_t last_position_ = 0;  // of the row that failed
};

}  // namespace clrscope::nettrace
