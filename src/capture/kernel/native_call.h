// SPDX-License-Identifier: Apache-2.0
// What methods that call native code leave on the stack for the runtime's own walks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "capture/kernel/stack_copy.h"

namespace clrscope::capture {

// Finds the innermost method that calls native code and says so, between `from` and `end`: where
// that returns to, the stack above the call, and the method's frame pointer. Such a method keeps
// where its stack was at the call, where the call returns to, and its frame pointer, one after the
// other. The call pushed the return address itself, so what is left over of earlier calls does not
// look the same. `returns(ip)`: whether a call may return there, into a method.
// Source: dotnet/runtime src/coreclr/vm/frames.h, InlinedCallFrame
template <class Returns>
bool FindNativeCall(const StackCopy& stack, uint64_t from, uint64_t end, Returns&& returns,
                    CallFrame* out) {
  end = std::min(end, stack.end());
  for (uint64_t at = from + 8; at < end && stack.Has(at); at += 8) {
    const uint64_t sp = stack.Word(at - 8), ip = stack.Word(at), fp = stack.Word(at + 8);
    if (sp > at || sp <= from || !stack.Has(sp - 8) || fp <= at || fp % 8 != 0) continue;
    if (stack.Word(sp - 8) != ip || !returns(ip)) continue;
    *out = {ip, sp, fp};
    return true;
  }
  return false;
}

}  // namespace clrscope::capture
