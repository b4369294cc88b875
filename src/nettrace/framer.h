// SPDX-License-Identifier: Apache-2.0
// Cuts a nettrace byte stream into its objects, without looking into them. It needs no memory of
// its own, so that the thread that drains a socket can use it to discard whole objects when it
// must. Source: microsoft/perfview src/TraceEvent/EventPipe/NetTraceFormat_v5.md (V4, V5),
// NetTraceFormat.md (V6)
#pragma once

#include <cstdint>

#include "base/byte_reader.h"
#include "base/result.h"

namespace clrscope::nettrace {

enum class ObjectKind : uint8_t {
  kNeedMore,  // `size` bytes in all are needed to go on
  kHeader,    // magic and version
  kTrace,
  kEvents,
  kMetadata,
  kStacks,
  kSequencePoint,
  kThreads,        // V6
  kRemoveThreads,  // V6
  kLabels,         // V6
  kUnknown,        // skipped by its size
  kEnd,
};

struct Object {
  ObjectKind kind = ObjectKind::kNeedMore;
  size_t size = 0;  // bytes from where Next() was called to the object's end
  // With kNeedMore: what the object is, as soon as its length is known; kNeedMore before.
  ObjectKind announced = ObjectKind::kNeedMore;
  Bytes content;                // the object's own bytes, inside what was given
  uint64_t content_offset = 0;  // absolute offset of `content` in the stream
};

class Framer {
 public:
  // Blocks of the runtime are some 100 KB; anything above is a wild length.
  static constexpr size_t kMaxBlockBytes = 32 << 20;

  // Reads the object at the start of `bytes`, which lies at `offset` in the stream. After
  // kNeedMore, call again at the same place with more bytes; after kEnd, never.
  Result<Object> Next(Bytes bytes, uint64_t offset);

  uint32_t version() const { return version_; }  // 0 before the header was seen

 private:
  Result<Object> NextHeader(Bytes bytes, uint64_t offset);
  Result<Object> NextV4(Bytes bytes, uint64_t offset);
  Result<Object> NextV6(Bytes bytes, uint64_t offset) const;

  uint32_t version_ = 0;
  bool trace_seen_ = false;
};

}  // namespace clrscope::nettrace
