// SPDX-License-Identifier: Apache-2.0
// Tasks and the work items of the thread pool. Layouts checked on .NET 8, 9 and 10.
// Sources: dotnet/runtime src/libraries/System.Private.CoreLib/src/System/Threading/Tasks/
// TplEventSource.cs; System/Diagnostics/Eventing/FrameworkEventSource.cs
#pragma once

#include "clr/raw_event.h"

namespace clrscope::clr {

// What a TaskScheduled, -Started, -Completed, -WaitBegin, -WaitEnd, TaskWaitContinuationComplete,
// ThreadPoolEnqueueWork or ThreadPoolDequeueWork is about.
struct TaskEvent {
  uint64_t id = 0;    // the task's number, or the work item's address
  bool sync = false;  // a TaskWaitBegin of a thread that blocks
};
bool Decode(const RawEvent& event, TaskEvent& out);

}  // namespace clrscope::clr
