// SPDX-License-Identifier: Apache-2.0
// Runs call frame programs: what a module's unwind tables say of one place in its code.
// Source: DWARF 5 §6.4.2, §7.24; Linux Standard Base Core (DW_CFA_GNU_args_size).
#pragma once

#include <cstdint>

#include "base/byte_reader.h"

namespace clrscope::unwind {

// DWARF's numbers of registers on x86-64.
inline constexpr uint64_t kRbp = 6, kRsp = 7, kReturnAddress = 16;

// Where the caller's frame and registers are, at one place in the code.
struct CfaRow {
  uint64_t cfa_register = kRsp;
  int64_t cfa_offset = 8;
  bool cfa_known = true;
  enum class Rbp : uint8_t { kSame, kSaved, kUnknown } rbp = Rbp::kSame;
  int64_t rbp_offset = 0;
  bool root = false;        // no return address
  bool odd_return = false;  // a return address elsewhere than below the CFA
};

// What the program's operands are multiples of.
struct CfaFactors {
  uint64_t code = 1;
  int64_t data = 1;
};

// Runs `program` from offset 0 of the code up to `stop`. `row`: before and after; `initial`: that
// rules are restored to. Returns false where the program is damaged or of an unknown kind.
// Allocates nothing.
bool RunCfaProgram(Bytes program, const CfaFactors& factors, const CfaRow& initial, uint64_t stop,
                   CfaRow& row);

int64_t SignedLeb(ByteReader& r);

}  // namespace clrscope::unwind
