// SPDX-License-Identifier: Apache-2.0
#include "clr/fault_events.h"

#include <cmath>

namespace clrscope::clr {

bool Decode(const RawEvent& event, ExceptionThrown& out) {
  ByteReader r(event.payload);
  out = {};
  out.type_name = r.Utf16Z();
  out.message = r.Utf16Z();
  out.address = r.Pointer(event.pointer_size);
  out.hresult = r.U32();
  out.flags = r.U16();
  return r.ok();
}

bool Decode(const RawEvent& event, ContentionStart& out) {
  ByteReader r(event.payload);
  out = {};
  r.Skip(3);  // flags, ClrInstanceID
  if (!r.ok()) return false;
  if (event.kind->version < 2) return true;
  out.lock = r.Pointer(event.pointer_size);
  (void)r.Pointer(event.pointer_size);  // the object, which moves
  out.owner = r.U64();
  return r.ok();
}

bool Decode(const RawEvent& event, ContentionStop& out) {
  ByteReader r(event.payload);
  out = {};
  r.Skip(3);
  out.duration_ns = r.F64();
  return r.ok() && std::isfinite(out.duration_ns) && out.duration_ns >= 0;
}

bool Decode(const RawEvent& event, WaitStart& out) {
  ByteReader r(event.payload);
  out = {};
  out.source = r.U8();
  return r.ok();
}

}  // namespace clrscope::clr
