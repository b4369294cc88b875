// SPDX-License-Identifier: Apache-2.0
// Exceptions that are thrown and threads that wait.
// Source: dotnet/runtime src/coreclr/vm/ClrEtwAll.man; layouts checked on .NET 8, 9 and 10.
#pragma once

#include "clr/raw_event.h"

namespace clrscope::clr {

// ExceptionThrown, V1; keyword Exception, level 2. An event of more than 64 KB, by its message, is
// not written: its number is missing in the thread's sequence.
struct ExceptionThrown {
  // As reflection's FullName, but of a nested type its own name only.
  Utf16View type_name;
  Utf16View message;     // "NULL" where there is none
  uint64_t address = 0;  // of the throwing instruction
  uint32_t hresult = 0;
  uint16_t flags = 0;
  bool has_inner() const { return (flags & 1) != 0; }
  // Thrown while another one was handled. `await` throws what it has caught so, too.
  bool nested() const { return (flags & 2) != 0; }
  // .NET 8 alone: `throw;`. Later ones write no event for it.
  bool rethrown() const { return (flags & 4) != 0; }
};
bool Decode(const RawEvent& event, ExceptionThrown& out);

// ContentionStart, V1 and V2; keyword Contention, level 4. A thread begins to wait for a lock that
// another one holds.
struct ContentionStart {
  uint64_t lock = 0;   // V2: the same for the lock's life
  uint64_t owner = 0;  // V2: the OS thread id of who holds it; 0 = nobody any more
};
bool Decode(const RawEvent& event, ContentionStart& out);

// ContentionStop, V1: it has the lock, or gave up. Neither stack nor lock.
struct ContentionStop {
  double duration_ns = 0;
};
bool Decode(const RawEvent& event, ContentionStop& out);

// WaitHandleWaitStart, V0, .NET 9; keyword WaitHandle, level 5. The stop has no payload.
struct WaitStart {
  uint8_t source = 0;  // 1: Monitor.Wait
};
bool Decode(const RawEvent& event, WaitStart& out);

}  // namespace clrscope::clr
