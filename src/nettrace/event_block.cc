// SPDX-License-Identifier: Apache-2.0
#include "nettrace/event_block.h"

#include <algorithm>

namespace clrscope::nettrace {

EventBlockReader::EventBlockReader(Bytes content, uint32_t version)
    : reader_(content), version_(version) {
  const uint16_t header_bytes = reader_.U16();
  const uint16_t flags = reader_.U16();
  compressed_ = (flags & 1) != 0;
  if (header_bytes < 20) {
    reader_.Fail();
  } else {
    reader_.Skip(header_bytes - 4u);
  }
}

bool EventBlockReader::FailAt(ByteReader& reader, size_t position) {
  last_position_ = position;
  reader.Fail();
  return false;
}

const std::byte* EventBlockReader::Guid(Bytes bytes) {
  const bool zero =
      std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  return zero ? nullptr : bytes.data();
}

void EventBlockReader::DecodeLastHeaders(ByteReader& reader, State& state) const {
  DecodeHeader(reader, state);
}

bool EventBlockReader::NextUncompressed() {
  last_position_ = reader_.position();
  const uint32_t bytes = reader_.U32();
  const Bytes blob = reader_.Take(bytes);
  ByteReader r(blob);
  state_ = {};
  EventRow& row = state_.row;
  const uint32_t id = r.U32();
  row.metadata_id = id & 0x7FFFFFFF;
  // V4 and V5 writers set the bit on rows that are *not* sorted, contrary to their text. The V6
  // text says the opposite and no V6 writer without compression is known: to wait is always safe.
  state_.order.sorted = version_ < 6 && (id & 0x80000000u) == 0;
  state_.order.sequence = r.U32();
  row.thread = r.U64();
  state_.order.capture_thread = r.U64();
  r.Skip(4);  // processor
  row.stack_id = r.U32();
  row.time = r.I64();
  if (version_ >= 6) {
    row.label_list = r.U32();
  } else {
    state_.activity = Guid(r.Take(16));
    state_.related_activity = Guid(r.Take(16));
  }
  row.payload_size = r.U32();
  row.payload = r.Take(row.payload_size).data();
  if (!r.ok()) reader_.Fail();
  if (r.ok()) state_.SetActivities();
  // Rows are padded to 4 bytes in V4 and V5; the size does not count the padding.
  if (version_ < 6 && reader_.remaining() != 0)
    reader_.Skip(std::min<size_t>(reader_.remaining(), (4 - reader_.position() % 4) % 4));
  return reader_.ok();
}

}  // namespace clrscope::nettrace
