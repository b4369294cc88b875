// SPDX-License-Identifier: Apache-2.0
// Allocation events and the types they name.
// Source: dotnet/runtime src/coreclr/vm/ClrEtwAll.man; layouts checked on .NET 8, 9 and 10.
#pragma once

#include "clr/raw_event.h"

namespace clrscope::clr {

// GCAllocationTick, V1–V4: one per ~100 KB of a heap kind; keyword GC, level 5.
struct AllocationTick {
  uint64_t amount = 0;       // bytes allocated on this kind since its last tick
  uint32_t kind = 0;         // 0 SOH, 1 LOH, 2 POH
  uint64_t type_id = 0;      // V2
  Utf16View type_name;       // V2
  uint32_t heap = 0;         // V2
  uint64_t address = 0;      // V3; not constructed yet when the event is written
  uint64_t object_size = 0;  // V4; 0 = unknown
};
bool Decode(const RawEvent& event, AllocationTick& out);

// AllocationSampled, V0, .NET 10: each byte is hit with probability 1/102400; keyword
// AllocationSampling, level 4.
struct AllocationSampled {
  uint32_t kind = 0;
  uint64_t type_id = 0;
  Utf16View type_name;
  uint64_t address = 0;
  uint64_t object_size = 0;  // aligned to 8
  uint64_t sampled_byte_offset = 0;
};
bool Decode(const RawEvent& event, AllocationSampled& out);

// GCSampledObjectAllocationHigh (20) and Low (32): objects of one type since its last event. Sizes
// are not aligned.
struct SampledObjectAllocation {
  uint64_t address = 0;
  uint64_t type_id = 0;
  uint32_t count = 0;
  uint64_t total_size = 0;
};
// In the header, because these come by the million.
inline bool Decode(const RawEvent& event, SampledObjectAllocation& out) {
  // These come by the million: one look at the size in place of one for each field.
  const bool wide = event.pointer_size != 4;
  const size_t pointers = wide ? 16 : 8;
  if (event.payload.size() < pointers + 12) return false;
  const std::byte* const at = event.payload.data();
  out.address = wide ? LoadAt<uint64_t>(at) : LoadAt<uint32_t>(at);
  out.type_id = wide ? LoadAt<uint64_t>(at + 8) : LoadAt<uint32_t>(at + 4);
  out.count = LoadAt<uint32_t>(at + pointers);
  out.total_size = LoadAt<uint64_t>(at + pointers + 4);
  return true;
}

inline constexpr uint32_t kArrayType = 8;  // of TypeRecord::flags

// One element of GCBulkType; it arrives after the first event that uses the type.
struct TypeRecord {
  uint64_t type_id = 0;
  uint64_t module_id = 0;
  uint32_t token = 0;
  uint32_t flags = 0;  // 1 delegate, 2 finalizable, 8 array; bits 8–13 the array's rank (0: vector)
  uint8_t element_type = 0;
  Utf16View name;
  uint32_t parameter_count = 0;
  Bytes parameters;  // u64 type ids
};

// Walks a BulkType payload; Next() returns false at the end or when the rest does not decode.
class BulkTypeReader {
 public:
  explicit BulkTypeReader(const RawEvent& event);
  bool Next(TypeRecord& out);
  bool ok() const { return reader_.ok(); }

 private:
  ByteReader reader_;
  uint32_t left_ = 0;
};

}  // namespace clrscope::clr
