// SPDX-License-Identifier: Apache-2.0
#include "clr/request_events.h"

namespace clrscope::clr {

bool Decode(const RawEvent& event, RequestStart& out) {
  ByteReader r(event.payload);
  out.method = r.Utf16Z();
  out.path = r.Utf16Z();
  return r.ok();
}

}  // namespace clrscope::clr
