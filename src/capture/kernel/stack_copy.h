// SPDX-License-Identifier: Apache-2.0
// A part of a thread's stack, as it was at one moment.
#pragma once

#include <cstdint>

#include "base/byte_reader.h"

namespace clrscope::capture {

struct StackCopy {
  uint64_t sp = 0;  // a multiple of 8
  Bytes bytes;      // from there upwards

  uint64_t end() const { return sp + bytes.size() / 8 * 8; }
  bool Has(uint64_t address) const { return address % 8 == 0 && address >= sp && address < end(); }
  // A word by its address; 0 outside.
  uint64_t Word(uint64_t address) const {
    return Has(address) ? LoadAt<uint64_t>(bytes.data() + (address - sp)) : 0;
  }
};

// The registers in a frame. ip: what its call returns to, or in a leaf the instruction that runs.
// fp: rbp; 0: not known.
struct CallFrame {
  uint64_t ip = 0, sp = 0, fp = 0;
  bool leaf = false;
};

}  // namespace clrscope::capture
