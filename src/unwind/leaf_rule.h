// SPDX-License-Identifier: Apache-2.0
// The frame of a method at any of its instructions: a prologue may have done a part of its work,
// an epilogue may have undone it. Agrees with RuleOf() in the body.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.h"
#include "unwind/frame_rule.h"
#include "unwind/prologue.h"

namespace clrscope::unwind {

// What an epilogue still does from `code` on: it adds to rsp, pops, and returns or jumps to a
// method that it calls last. kPending: this is no epilogue. 48 bytes are enough.
FrameRule EpilogueRule(Bytes code);

// The rules for a body by the epilogues in `code`, which is what follows in the method: rsp stays
// where it is in between. For methods of which the prologue does not tell. Funclets, which come
// last, have epilogues of their own. At most `most`, in order.
std::vector<FrameRule> EpiloguesIn(Bytes code, size_t most);

struct LeafCode {
  Bytes start;          // the method's first bytes
  uint64_t offset = 0;  // of the instruction in the method
  Bytes at;             // from the instruction on; may be empty: it is not known
};

// `prologue`: of code.start; `tier0`: as for RuleOf().
FrameRule LeafRule(const LeafCode& code, const Prologue& prologue, const Prologue& tier0);

}  // namespace clrscope::unwind
