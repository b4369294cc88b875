// SPDX-License-Identifier: Apache-2.0
// What the EventSource System.Runtime tells of itself: its EventCounters, one event for each.
#pragma once

#include "clr/raw_event.h"

namespace clrscope::clr {

// A counter of the kind that adds up (IncrementingPollingCounter): how much it grew in an interval;
// less than 0 where the program's total went back.
// Source: dotnet/runtime src/libraries/System.Private.CoreLib
// src/System/Diagnostics/Tracing/CounterPayload.cs; layout checked on .NET 8, 9 and 10. Another
// tool that asks for shorter intervals sets it back: what came since the last value is then in no
// value, and the next one's interval begins later (CounterGroup.ResetCounters).
struct SumCounter {
  Utf16View name;  // "exception-count"
  double increment = 0;
  double interval_s = 0;  // the time that it is of, up to the event's
};
// False for counters of the other kind (means) too.
bool Decode(const RawEvent& event, SumCounter& out);

// A counter of the other kind (PollingCounter): what it was when it was asked, of one asking the
// mean.
struct MeanCounter {
  Utf16View name;  // "threadpool-queue-length"
  double mean = 0;
};
// False for counters that add up.
bool Decode(const RawEvent& event, MeanCounter& out);

// Counts first chances: every throw and every rethrow, by `throw;` too, for which .NET 9 and later
// write no event. Source: measured on .NET 8, 9 and 10.
inline constexpr std::u16string_view kExceptionCount = u"exception-count";
// Grows by what GC.GetTotalAllocatedBytes(false) does: what threads were given to allocate in, to
// a few KB each.
inline constexpr std::u16string_view kAllocRate = u"alloc-rate";
inline constexpr std::u16string_view kPoolThreads = u"threadpool-thread-count",
                                     kPoolQueue = u"threadpool-queue-length";
bool IsCounter(Utf16View name, std::u16string_view wanted);

}  // namespace clrscope::clr
