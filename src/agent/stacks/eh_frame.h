// SPDX-License-Identifier: Apache-2.0
// The frame of native code, from the unwind tables (.eh_frame) of its module.
// Source: DWARF 5 §6.4, Linux Standard Base Core (.eh_frame_hdr), System V ABI x86-64.
#pragma once

#include <cstdint>

#include "agent/stacks/frame_rule.h"

namespace clrscope::agent {

// The mapped module that holds an address.
struct NativeModule {
  uintptr_t text = 0, text_end = 0;      // the executable segment
  uintptr_t header = 0, header_end = 0;  // .eh_frame_hdr
  uintptr_t image = 0, image_end = 0;    // all that is mapped of it
};

// The rule for the return address `ip` in `module`. kSnapshot when the tables do not say, or say it
// in a way that is not known here (other registers than rsp and rbp, expressions).
// Reads the module's memory: it must stay mapped during the call.
FrameRule RuleOf(const NativeModule& module, uintptr_t ip);

}  // namespace clrscope::agent
