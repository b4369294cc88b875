// SPDX-License-Identifier: Apache-2.0
#include "clr/other_events.h"

namespace clrscope::clr {

bool Decode(const RawEvent& event, ExceptionThrown& out) {
  ByteReader r(event.payload);
  out.type = r.Utf16Z();
  out.message = r.Utf16Z();
  out.instruction = r.Pointer(event.pointer_size);
  out.hresult = r.U32();
  out.flags = r.U16();
  return r.ok();
}

bool Decode(const RawEvent& event, ContentionStart& out) {
  ByteReader r(event.payload);
  out = {};
  out.flags = r.U8();
  r.Skip(2);
  if (!r.ok()) return false;
  const auto p = static_cast<size_t>(event.pointer_size);
  if (event.kind->version >= 2 && r.remaining() >= 2 * p + 8) {
    out.lock = r.Pointer(event.pointer_size);
    out.object = r.Pointer(event.pointer_size);
    out.owner_thread = r.U64();
  }
  return true;
}

bool Decode(const RawEvent& event, ContentionStop& out) {
  ByteReader r(event.payload);
  out = {};
  out.flags = r.U8();
  r.Skip(2);
  if (!r.ok()) return false;
  if (event.kind->version >= 1 && r.remaining() >= 8) out.duration_ns = r.F64();
  return true;
}

bool Decode(const RawEvent& event, ThreadCreated& out) {
  ByteReader r(event.payload);
  out.managed_thread = r.U64();
  out.domain = r.U64();
  out.flags = r.U32();
  out.managed_index = r.U32();
  out.os_thread = r.U32();
  return r.ok();
}

}  // namespace clrscope::clr
