// SPDX-License-Identifier: Apache-2.0
// How to get from a call site's frame to its caller's, in 64 bits, so that it is read at once.
#pragma once

#include <cstdint>

namespace clrscope::unwind {

enum class RuleState : uint8_t {
  kPending,   // nobody looked at the address yet
  kKnown,     //
  kSnapshot,  // cannot be said from the address alone: the runtime has to walk such a stack
  kRoot,      // the outermost frame
};

// x64, System V. CFA: what the stack pointer is in the caller once the call has returned. The
// return address lies below it.
struct FrameRule {
  RuleState state = RuleState::kPending;
  bool managed = false;
  bool from_rbp = false;     // cfa = rbp + cfa_offset, else sp + cfa_offset
  uint32_t cfa_offset = 0;   // bytes, a multiple of 8
  uint16_t rbp_slot = 0;     // the caller's rbp lies at cfa - 8 * rbp_slot; 0: it is unchanged
  uint32_t frame_bytes = 0;  // where both registers tell the CFA: it is at least sp + this; else 0
  bool exact = false;        // … and must be equal to it: the method has exception filters

  static constexpr uint32_t kMaxOffset = (1u << 20) * 8 - 8;

  // Larger than what fits: kSnapshot.
  uint64_t Pack() const {
    if (state == RuleState::kKnown && (cfa_offset > kMaxOffset || frame_bytes > kMaxOffset))
      return FrameRule{RuleState::kSnapshot, managed}.Pack();
    return static_cast<uint64_t>(state) | uint64_t{managed} << 2 | uint64_t{from_rbp} << 3 |
           uint64_t{cfa_offset / 8} << 4 | uint64_t{rbp_slot} << 24 |
           uint64_t{frame_bytes / 8} << 40 | uint64_t{exact} << 60;
  }
  static FrameRule Unpack(uint64_t v) {
    FrameRule r;
    r.state = static_cast<RuleState>(v & 3);
    r.managed = (v >> 2 & 1) != 0;
    r.from_rbp = (v >> 3 & 1) != 0;
    r.cfa_offset = static_cast<uint32_t>(v >> 4 & 0xfffff) * 8;
    r.rbp_slot = static_cast<uint16_t>(v >> 24 & 0xffff);
    r.frame_bytes = static_cast<uint32_t>(v >> 40 & 0xfffff) * 8;
    r.exact = (v >> 60 & 1) != 0;
    return r;
  }
};

}  // namespace clrscope::unwind
