// SPDX-License-Identifier: Apache-2.0
#include "clr/alloc_events.h"

namespace clrscope::clr {

bool Decode(const RawEvent& event, AllocationTick& out) {
  ByteReader r(event.payload);
  out = {};
  out.amount = r.U32();
  out.kind = r.U32();
  r.Skip(2);  // ClrInstanceID
  if (!r.ok()) return false;
  if (event.kind->version < 2) return true;
  out.amount = r.U64();
  out.type_id = r.Pointer(event.pointer_size);
  out.type_name = r.Utf16Z();
  out.heap = r.U32();
  if (event.kind->version >= 3) out.address = r.Pointer(event.pointer_size);
  if (event.kind->version >= 4) out.object_size = r.U64();
  return r.ok();
}

bool Decode(const RawEvent& event, AllocationSampled& out) {
  ByteReader r(event.payload);
  out = {};
  out.kind = r.U32();
  r.Skip(2);
  out.type_id = r.Pointer(event.pointer_size);
  out.type_name = r.Utf16Z();
  out.address = r.Pointer(event.pointer_size);
  out.object_size = r.U64();
  out.sampled_byte_offset = r.U64();
  return r.ok() && out.object_size > 0;
}

BulkTypeReader::BulkTypeReader(const RawEvent& event) : reader_(event.payload) {
  left_ = reader_.U32();
  reader_.Skip(2);
}

bool BulkTypeReader::Next(TypeRecord& out) {
  if (left_ == 0 || !reader_.ok()) return false;
  --left_;
  out.type_id = reader_.U64();
  out.module_id = reader_.U64();
  out.token = reader_.U32();
  out.flags = reader_.U32();
  out.element_type = reader_.U8();
  out.name = reader_.Utf16Z();
  out.parameter_count = reader_.U32();
  if (out.parameter_count > reader_.remaining() / 8) reader_.Fail();
  out.parameters = reader_.Take(size_t{out.parameter_count} * 8);
  return reader_.ok();
}

}  // namespace clrscope::clr
