// SPDX-License-Identifier: Apache-2.0
// Exceptions, lock contention and threads.
// Source: dotnet/runtime src/coreclr/vm/ClrEtwAll.man
#pragma once

#include "clr/raw_event.h"

namespace clrscope::clr {

struct ExceptionThrown {
  Utf16View type, message;
  uint64_t instruction = 0;
  uint32_t hresult = 0;
  uint16_t flags = 0;  // 1 has inner, 4 rethrown
};
bool Decode(const RawEvent& event, ExceptionThrown& out);

struct ContentionStart {
  uint8_t flags = 0;                                // 0 managed, 1 native
  uint64_t lock = 0, object = 0, owner_thread = 0;  // V2
};
bool Decode(const RawEvent& event, ContentionStart& out);

struct ContentionStop {
  uint8_t flags = 0;
  double duration_ns = 0;  // V1
};
bool Decode(const RawEvent& event, ContentionStop& out);

struct ThreadCreated {
  uint64_t managed_thread = 0, domain = 0;
  uint32_t flags = 0, managed_index = 0, os_thread = 0;
};
bool Decode(const RawEvent& event, ThreadCreated& out);

}  // namespace clrscope::clr
