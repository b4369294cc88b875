// SPDX-License-Identifier: Apache-2.0
#include "nettrace/framer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace clrscope::nettrace {
namespace {

constexpr std::string_view kMagic = "Nettrace";
constexpr std::string_view kSerialization = "!FastSerialization.1";
// Tags of the FastSerialization envelope of V4 and V5.
constexpr uint8_t kTagNull = 1, kTagBeginPrivate = 5, kTagEnd = 6;
constexpr size_t kTraceBytes = 48;
constexpr size_t kMaxNameBytes = 256;

Object NeedMore(size_t size, ObjectKind announced = ObjectKind::kNeedMore) {
  return Object{ObjectKind::kNeedMore, size, announced, {}, 0};
}
Object Found(ObjectKind kind, size_t size, Bytes content, uint64_t content_offset) {
  return Object{kind, size, kind, content, content_offset};
}

ObjectKind KindOf(std::string_view name) {
  if (name == "Trace") return ObjectKind::kTrace;
  if (name == "EventBlock") return ObjectKind::kEvents;
  if (name == "MetadataBlock") return ObjectKind::kMetadata;
  if (name == "StackBlock") return ObjectKind::kStacks;
  if (name == "SPBlock") return ObjectKind::kSequencePoint;
  return ObjectKind::kUnknown;
}

}  // namespace

Result<Object> Framer::Next(Bytes bytes, uint64_t offset) {
  if (version_ == 0) return NextHeader(bytes, offset);
  return version_ < 6 ? NextV4(bytes, offset) : NextV6(bytes, offset);
}

Result<Object> Framer::NextHeader(Bytes bytes, uint64_t offset) {
  const size_t known = std::min(bytes.size(), kMagic.size());
  if (AsText(bytes.first(known)) != kMagic.substr(0, known))
    return Error::At(ErrorCode::kCorrupt, offset,
                     "not a nettrace file: it does not begin with 'Nettrace'");
  if (bytes.size() < kMagic.size() + 4) return NeedMore(kMagic.size() + 4);
  ByteReader r(bytes.subspan(kMagic.size()));
  const uint32_t discriminator = r.U32();
  if (discriminator == 0) {
    if (r.remaining() < 8) return NeedMore(kMagic.size() + 12);
    const uint32_t major = r.U32();
    r.Skip(4);  // minor versions do not break readers
    if (major != 6)
      return Error::At(ErrorCode::kCorrupt, offset + kMagic.size() + 4,
                       fmt::format("nettrace version {} is not known (4 to 6 are)", major));
    version_ = 6;
    return Found(ObjectKind::kHeader, kMagic.size() + 12, {}, offset);
  }
  if (discriminator != kSerialization.size())
    return Error::At(ErrorCode::kCorrupt, offset + kMagic.size(),
                     "not a nettrace file: its header is damaged");
  if (r.remaining() < kSerialization.size())
    return NeedMore(kMagic.size() + 4 + kSerialization.size());
  if (AsText(r.Take(kSerialization.size())) != kSerialization)
    return Error::At(ErrorCode::kCorrupt, offset + kMagic.size() + 4,
                     "not a nettrace file: its header is damaged");
  version_ = 4;  // the Trace object tells 4 from 5
  return Found(ObjectKind::kHeader, kMagic.size() + 4 + kSerialization.size(), {}, offset);
}

Result<Object> Framer::NextV4(Bytes bytes, uint64_t offset) {
  const auto corrupt = [&](size_t at, std::string message) {
    return Error::At(ErrorCode::kCorrupt, offset + at, std::move(message));
  };
  if (bytes.empty()) return NeedMore(1);
  ByteReader r(bytes);
  const uint8_t tag = r.U8();
  if (tag == kTagNull) return Found(ObjectKind::kEnd, 1, {}, offset);
  if (tag != kTagBeginPrivate)
    return corrupt(0, fmt::format("tag {} where an object or the end should be", tag));
  // begin, begin, null: the type's own type; version, minimum reader, name, end.
  if (bytes.size() < 15) return NeedMore(15);
  if (r.U8() != kTagBeginPrivate || r.U8() != kTagNull)
    return corrupt(1, "damaged type of an object");
  const uint32_t object_version = r.U32();
  const uint32_t minimum_reader = r.U32();
  const uint32_t name_bytes = r.U32();
  if (name_bytes > kMaxNameBytes)
    return corrupt(11, fmt::format("the name of a type is {} bytes long", name_bytes));
  if (r.remaining() < name_bytes + 1) return NeedMore(r.position() + name_bytes + 1 + 4);
  const std::string_view name = AsText(r.Take(name_bytes));
  if (r.U8() != kTagEnd) return corrupt(r.position() - 1, "a type without its end tag");
  const ObjectKind kind = KindOf(name);

  if (kind == ObjectKind::kTrace) {
    if (minimum_reader > 5)
      return corrupt(
          7, fmt::format("this nettrace asks for a reader of version {} (5 is the newest known)",
                         minimum_reader));
    if (r.remaining() < kTraceBytes + 1) return NeedMore(r.position() + kTraceBytes + 1);
    const uint64_t content_offset = offset + r.position();
    const Bytes content = r.Take(kTraceBytes);
    if (r.U8() != kTagEnd) return corrupt(r.position() - 1, "the Trace object has no end tag");
    version_ = std::clamp(object_version, 4u, 5u);
    trace_seen_ = true;
    return Found(kind, r.position(), content, content_offset);
  }
  if (r.remaining() < 4) return NeedMore(r.position() + 4);
  const uint32_t block_bytes = r.U32();
  if (block_bytes > kMaxBlockBytes)
    return corrupt(
        r.position() - 4,
        fmt::format("a block of {} bytes, larger than any that a runtime writes", block_bytes));
  const size_t padding = static_cast<size_t>((4 - (offset + r.position()) % 4) % 4);
  const size_t total = r.position() + padding + block_bytes + 1;
  if (bytes.size() < total) return NeedMore(total, kind);
  r.Skip(padding);
  const uint64_t content_offset = offset + r.position();
  const Bytes content = r.Take(block_bytes);
  if (r.U8() != kTagEnd)
    return corrupt(total - 1, "a block without its end tag: its length is wrong");
  if (!trace_seen_ && kind != ObjectKind::kUnknown)
    return corrupt(0, "a block before the Trace object");
  return Found(kind, total, content, content_offset);
}

Result<Object> Framer::NextV6(Bytes bytes, uint64_t offset) const {
  if (bytes.size() < 4) return NeedMore(4);
  ByteReader r(bytes);
  const uint32_t word = r.U32();
  const size_t block_bytes = word & 0xFFFFFF;
  constexpr ObjectKind kKinds[] = {
      ObjectKind::kEnd,      ObjectKind::kTrace,         ObjectKind::kEvents,
      ObjectKind::kMetadata, ObjectKind::kSequencePoint, ObjectKind::kStacks,
      ObjectKind::kThreads,  ObjectKind::kRemoveThreads, ObjectKind::kLabels};
  const uint32_t code = word >> 24;
  const ObjectKind kind = code < std::size(kKinds) ? kKinds[code] : ObjectKind::kUnknown;
  if (bytes.size() < 4 + block_bytes) return NeedMore(4 + block_bytes, kind);
  return Found(kind, 4 + block_bytes, r.Take(block_bytes), offset + 4);
}

}  // namespace clrscope::nettrace
