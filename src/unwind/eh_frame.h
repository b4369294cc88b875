// SPDX-License-Identifier: Apache-2.0
// The frame of native code, from the unwind tables (.eh_frame) of its module.
// Source: DWARF 5 §6.4, Linux Standard Base Core (.eh_frame_hdr), System V ABI x86-64.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/byte_reader.h"
#include "unwind/frame_rule.h"

namespace clrscope::unwind {

// A module as it is mapped in its process. Addresses are those of the process.
struct NativeModule {
  uint64_t text = 0, text_end = 0;      // the executable segment
  uint64_t header = 0, header_end = 0;  // .eh_frame_hdr
  uint64_t image = 0, image_end = 0;    // all that is mapped of it
};

// Memory of the process whose modules these are.
class ModuleMemory {
 public:
  virtual ~ModuleMemory() = default;
  // At most `size` bytes from `address` on; fewer, or none, where no more can be read. They stay
  // valid until Forget().
  virtual Bytes At(uint64_t address, size_t size) = 0;
  virtual void Forget() {}
};

// The rule for `at`, the instruction that runs, or a return address less one, in `module`.
// kSnapshot when the tables do not say, or say it in a way that is not known here (other registers
// than rsp and rbp, expressions). Allocates nothing by itself.
FrameRule RuleAt(const NativeModule& module, uint64_t at, ModuleMemory& memory);

// The rule for a return address. kSnapshot, too, where it is the first instruction of a function
// and no call ends before it: to stop a thread, the runtime puts the address of OnHijackTripThread
// in place of a return address, which the stack then lacks.
// Source: dotnet/runtime src/coreclr/vm/threadsuspend.cpp, Thread::HijackThread
FrameRule RuleOfReturn(const NativeModule& module, uint64_t ip, ModuleMemory& memory);

}  // namespace clrscope::unwind
