// SPDX-License-Identifier: Apache-2.0
#include "clr/task_events.h"

#include "clr/event_table.h"

namespace clrscope::clr {

bool Decode(const RawEvent& event, TaskEvent& out) {
  constexpr int32_t kSynchronous = 1;
  ByteReader r(event.payload);
  out = {};
  switch (event.kind->tag) {
    case EventTag::kPoolEnqueue:
    case EventTag::kPoolDequeue:
      out.id = r.U64();
      return r.ok();
    case EventTag::kTaskContinued:
      out.id = r.U32();
      return r.ok();
    default:
      r.U32();  // the scheduler
      r.U32();  // the task that the thread is at
      out.id = r.U32();
      if (event.kind->tag == EventTag::kTaskWaitBegin) out.sync = r.I32() == kSynchronous;
      return r.ok();
  }
}

}  // namespace clrscope::clr
