// SPDX-License-Identifier: Apache-2.0
// Samples of the runtime's own sample profiler (Microsoft-DotNETCore-SampleProfiler).
// Source: dotnet/runtime src/coreclr/vm/eventing/eventpipe/ep-rt-coreclr.cpp.
#pragma once

#include "clr/raw_event.h"

namespace clrscope::clr {

// ThreadSample, id 0, V0. The event's thread is the one that is told of, the stack is its own.
struct ThreadSample {
  uint32_t type = 0;  // 0: unknown, 1: it was not in managed code, 2: it was
};
bool Decode(const RawEvent& event, ThreadSample& out);

}  // namespace clrscope::clr
