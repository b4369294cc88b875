// SPDX-License-Identifier: Apache-2.0
// The managed stack of a thread of the snapshot.
#pragma once

#include <string>
#include <vector>

#include "dac/runtime.h"

namespace clrscope::dac {

struct StackFrame {
  Address ip = 0, sp = 0;
  Address method = 0;          // 0: a frame of the runtime's own without a method
  Address explicit_frame = 0;  // the runtime's Frame on the stack, 0 at a method's code
};
struct ThreadStack {
  std::vector<StackFrame> frames;  // the leaf first
  bool cut = false;                // there were more
  std::string error;               // why there is none, or not all of it
  bool faulted = false;            // a frame may lack its method
};
ThreadStack WalkThread(Runtime& runtime, uint32_t os_id);

}  // namespace clrscope::dac
