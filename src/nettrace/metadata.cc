// SPDX-License-Identifier: Apache-2.0
#include "nettrace/metadata.h"

#include "base/utf.h"

namespace clrscope::nettrace {
namespace {

constexpr uint32_t kDenseIds = 1 << 14;

std::string Utf8String(ByteReader& r) { return std::string(AsText(r.Take(r.VarU32()))); }

// V6 optional metadata: kinds that carry what we need, and how to step over the others.
void ReadOptions(ByteReader& r, CountedKind& kind) {
  enum {
    kOpcode = 1,
    kKeywords = 3,
    kTemplate = 4,
    kDescription = 5,
    kKeyValue = 6,
    kGuid = 7,
    kLevel = 8,
    kVersion = 9
  };
  while (r.ok() && r.remaining() > 0) {
    switch (r.U8()) {
      case kOpcode:
        r.Skip(1);
        break;
      case kKeywords:
        kind.keywords = r.U64();
        break;
      case kTemplate:
      case kDescription:
        r.Skip(r.VarU32());
        break;
      case kKeyValue:
        r.Skip(r.VarU32());
        r.Skip(r.VarU32());
        break;
      case kGuid:
        r.Skip(16);
        break;
      case kLevel:
        kind.level = r.U8();
        break;
      case kVersion:
        kind.version = r.U8();
        break;
      default:
        return;  // unknown: its size is unknown too
    }
  }
}

}  // namespace

Status MetadataTable::AddV4(Bytes payload, uint64_t offset) {
  ByteReader r(payload);
  CountedKind kind;
  const uint32_t id = r.U32();
  kind.provider_text = ToUtf8(r.Utf16Z());
  kind.id = r.U32();
  kind.event_text = ToUtf8(r.Utf16Z());
  kind.keywords = r.U64();
  kind.version = r.U32();
  kind.level = r.U32();
  if (!r.ok())
    return Error::At(ErrorCode::kCorrupt, offset + r.position(), "metadata of an event ends early");
  return Add(id, std::move(kind), offset);
}

Status MetadataTable::AddBlockV6(Bytes content, uint64_t offset) {
  ByteReader block(content);
  block.Skip(block.U16());
  while (block.ok() && block.remaining() > 0) {
    const size_t at = block.position();
    ByteReader r(block.Take(block.U16()));
    if (!block.ok()) break;
    CountedKind kind;
    const uint32_t id = r.VarU32();
    kind.provider_text = Utf8String(r);
    kind.id = r.VarU32();
    kind.event_text = Utf8String(r);
    const uint16_t fields = r.U16();
    for (uint16_t i = 0; i < fields && r.ok(); ++i) r.Skip(r.U16());
    if (!r.ok()) return Error::At(ErrorCode::kCorrupt, offset + at, "a metadata row ends early");
    if (r.remaining() >= 2) {
      ByteReader options(r.Take(r.U16()));
      ReadOptions(options, kind);
    }
    RETURN_IF_ERROR(Add(id, std::move(kind), offset + at));
  }
  if (!block.ok())
    return Error::At(ErrorCode::kCorrupt, offset, "a metadata block ends inside a row");
  return OkStatus();
}

Status MetadataTable::Add(uint32_t id, CountedKind kind, uint64_t offset) {
  if (kinds_.size() >= kMaxKinds)
    return Error::At(ErrorCode::kCorrupt, offset, "more kinds of events than any program has");
  kind.provider = clr::ProviderFromName(kind.provider_text);
  kind.tag = clr::FindEvent(kind.provider, kind.id, kind.event_text);
  CountedKind& k = kinds_.emplace_back(std::move(kind));
  k.provider_name = k.provider_text;
  k.event_name = k.event_text;
  if (id < kDenseIds) {
    if (id >= dense_.size()) dense_.resize(id + 1);
    dense_[id] = &k;
  } else {
    sparse_[id] = &k;
  }
  return OkStatus();
}

void MetadataTable::Clear() {
  dense_.clear();
  sparse_.clear();
}

}  // namespace clrscope::nettrace
