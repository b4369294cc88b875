// SPDX-License-Identifier: Apache-2.0
#include "nettrace/event_block.h"

#include <algorithm>
#include <cstring>

namespace clrscope::nettrace {
namespace {

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

const std::byte* Guid(Bytes bytes) {
  const bool zero =
      std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  return zero ? nullptr : bytes.data();
}

// All fields of a compressed header at their longest.
constexpr size_t kMaxHeaderBytes = 1 + 5 + 5 + 10 + 5 + 10 + 5 + 10 + 16 + 16 + 5;

// Reads where kMaxHeaderBytes are known to be there, so that no byte is checked for the end.
struct Unchecked {
  const std::byte* pos;
  bool bad = false;

  uint8_t U8() { return static_cast<uint8_t>(*pos++); }
  Bytes Take(size_t n) {
    const Bytes out{pos, n};
    pos += n;
    return out;
  }
  uint32_t VarU32() {
    const uint64_t v = Var(5);
    if (v > 0xFFFFFFFFu) bad = true;
    return static_cast<uint32_t>(v);
  }
  uint64_t VarU64() { return Var(10); }
  uint64_t Var(unsigned max_bytes) {
    const auto first = static_cast<uint8_t>(*pos++);
    if (first < 0x80) return first;
    uint64_t value = first & 0x7F;
    for (unsigned i = 1; i < max_bytes; ++i) {
      const auto b = static_cast<uint8_t>(*pos++);
      if (i == 9 && b > 1) break;
      value |= static_cast<uint64_t>(b & 0x7F) << (7 * i);
      if (b < 0x80) return value;
    }
    bad = true;
    return 0;
  }
};

}  // namespace

std::byte* EventRow::Own(std::byte* to) {
  uint32_t ids[2] = {activity_back, related_back};
  uint32_t at = 0;
  for (uint32_t& back : ids) {
    if (back == 0) continue;
    std::memcpy(to + at, payload - back, sizeof(clr::ActivityId));
    back = at;  // from the front for now
    at += sizeof(clr::ActivityId);
  }
  if (payload_size != 0) std::memcpy(to + at, payload, payload_size);
  if (activity_back != 0) activity_back = at - ids[0];
  if (related_back != 0) related_back = at - ids[1];
  payload = to + at;
  return to + at + payload_size;
}

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

// A compressed header as it is decoded. `Source` reads bytes and variable-length integers.
template <class Source>
void EventBlockReader::DecodeHeader(Source& r) {
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
    if (flags & kActivity) activity_ = Guid(r.Take(16));
    if (flags & kRelatedActivity) related_activity_ = Guid(r.Take(16));
  }
  order_.sorted = (flags & kSorted) != 0;
  if (flags & kPayloadSize) s.payload_size = r.VarU32();
}

void EventBlockReader::SetActivities() {
  const auto back = [this](const std::byte* id) {
    return id == nullptr ? 0 : static_cast<uint32_t>(row_.payload - id);
  };
  row_.activity_back = back(activity_);
  row_.related_back = back(related_activity_);
}

bool EventBlockReader::NextCompressed() {
  last_position_ = reader_.position();
  if (reader_.remaining() >= kMaxHeaderBytes) {
    Unchecked r{reader_.data()};
    DecodeHeader(r);
    if (r.bad) {
      reader_.Fail();
      return false;
    }
    reader_.Skip(static_cast<size_t>(r.pos - reader_.data()));
  } else {
    DecodeHeader(reader_);
  }
  row_.payload = reader_.Take(row_.payload_size).data();
  if (!reader_.ok()) return false;
  SetActivities();
  return true;
}

bool EventBlockReader::NextUncompressed() {
  last_position_ = reader_.position();
  const uint32_t bytes = reader_.U32();
  const Bytes blob = reader_.Take(bytes);
  ByteReader r(blob);
  EventRow& row = row_;
  row = {};
  order_ = {};
  activity_ = related_activity_ = nullptr;
  const uint32_t id = r.U32();
  row.metadata_id = id & 0x7FFFFFFF;
  // V4 and V5 writers set the bit on rows that are *not* sorted, contrary to their text. The V6
  // text says the opposite and no V6 writer without compression is known: to wait is always safe.
  order_.sorted = version_ < 6 && (id & 0x80000000u) == 0;
  order_.sequence = r.U32();
  row.thread = r.U64();
  order_.capture_thread = r.U64();
  r.Skip(4);  // processor
  row.stack_id = r.U32();
  row.time = r.I64();
  if (version_ >= 6) {
    row.label_list = r.U32();
  } else {
    activity_ = Guid(r.Take(16));
    related_activity_ = Guid(r.Take(16));
  }
  row.payload_size = r.U32();
  row.payload = r.Take(row.payload_size).data();
  if (!r.ok()) reader_.Fail();
  if (r.ok()) SetActivities();
  // Rows are padded to 4 bytes in V4 and V5; the size does not count the padding.
  if (version_ < 6 && reader_.remaining() != 0)
    reader_.Skip(std::min<size_t>(reader_.remaining(), (4 - reader_.position() % 4) % 4));
  return reader_.ok();
}

}  // namespace clrscope::nettrace
