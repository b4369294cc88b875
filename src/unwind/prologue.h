// SPDX-License-Identifier: Apache-2.0
// The frame of a method that the JIT compiled, read from its first instructions: they push
// registers, move rsp and, mostly, set up rbp. x64, System V.
#pragma once

#include <cstdint>

#include "base/byte_reader.h"
#include "unwind/frame_rule.h"

namespace clrscope::unwind {

struct Prologue {
  bool known = false;        // every instruction that touches rsp was understood
  bool osr = false;          // an on-stack replacement: it runs on its tier-0 method's frame
  uint32_t frame_bytes = 0;  // what was pushed and subtracted
  uint32_t length = 0;       // of its instructions, bytes
  bool sets_rbp = false;
  uint32_t rbp_to_cfa = 0;  // with sets_rbp: cfa - rbp
  uint32_t rbp_slot = 0;    // the caller's rbp lies at cfa - 8 * rbp_slot; 0: not saved
};

// `code`: from the method's start, 96 bytes are enough.
Prologue DecodePrologue(Bytes code);

// The rule for the body: its call sites, and any instruction between the prologue and an epilogue.
//   tier0: of the method whose frame an OSR method runs on; ignored otherwise
FrameRule RuleOf(const Prologue& prologue, const Prologue& tier0);

}  // namespace clrscope::unwind
