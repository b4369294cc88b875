// SPDX-License-Identifier: Apache-2.0
// What of a method's IL can call, and what lies in try blocks.
// Source: ECMA-335 §II.25.4 (method bodies), §III (instructions)
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace clrscope::symbols {

struct IlCode {
  // An instruction that may call something, in the order of the IL: calls, allocations, throws.
  struct Call {
    uint32_t il_offset = 0;
    bool throws = false;  // throw, rethrow
  };
  struct Try {
    uint32_t begin = 0, end = 0;
    uint32_t handler_begin = 0, handler_end = 0;
    bool catches = false;  // else it is a finally or a fault
    bool Holds(uint32_t il_offset) const { return il_offset >= begin && il_offset < end; }
  };
  std::vector<Call> calls;
  // Others that may call the runtime, which seldom goes on to code of the program: casts, stores of
  // references into arrays, static fields.
  std::vector<uint32_t> helpers;
  std::vector<uint32_t> leaves;  // instructions that leave a try block or a handler
  std::vector<Try> tries;
};

// `body`: from the method's header on; more may follow it. errors: kCorrupt, kTruncated with the
// offset
Result<IlCode> ReadIlCode(Bytes body);

}  // namespace clrscope::symbols
