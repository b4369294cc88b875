// SPDX-License-Identifier: Apache-2.0
#include "clr/thread_sample_events.h"

namespace clrscope::clr {

bool Decode(const RawEvent& event, ThreadSample& out) {
  ByteReader in(event.payload);
  out.type = in.U32();
  return in.ok() && out.type <= 2;
}

}  // namespace clrscope::clr
