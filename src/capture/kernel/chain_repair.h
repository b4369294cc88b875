// SPDX-License-Identifier: Apache-2.0
// The kernel walks stacks by frame pointers. Where a function without a frame of its own runs, its
// caller is missing: rbp still belongs to the caller, so the chain goes on with the caller's
// caller. The registers and a copy of the stack's end tell who is missing. Measured for managed
// callers of native code and of the runtime's stubs, on x86-64; what else is missing stays so.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.h"
#include "capture/kernel/code_ranges.h"
#include "capture/kernel/perf_record.h"
#include "capture/kernel/stack_copy.h"

namespace clrscope::capture {

enum class Repair : uint8_t {
  kNone,            // nothing seems to be missing, or nothing can be told
  kCallerInserted,  // one managed frame was missing
  kJoined,          // the chain broke off in native code; managed frames were found above it
  kNotRepairable,   // managed frames may be missing: the copied stack ends too early to tell
};

// What knows the methods of a process. Without it a leaf in the runtime's code is left as it is: it
// may be a method, which needs no repair, or a stub, which does; and a pointer to a stub may be
// taken for a return address.
class MethodStarts {
 public:
  static constexpr uint64_t kUnknown = ~uint64_t{0};
  virtual ~MethodStarts() = default;
  // Where the code of the method at `address` begins; 0: no method is there, so it is a stub;
  // kUnknown.
  virtual uint64_t StartOf(uint64_t address) const = 0;
};

class ChainRepair {
 public:
  // `chain`: user addresses, leaf first. `stack`: what lies from regs.sp upwards. `methods` may be
  // null. A chain never grows by more than the words of the stack.
  Repair Run(std::vector<uint64_t>& chain, const UserRegs& regs, Bytes stack,
             const CodeRanges& code, const MethodStarts* methods = nullptr);

 private:
  // Managed code, and neither a method's first instruction nor in a stub, where known: pointers to
  // those lie on stacks too, and no call returns there.
  bool MayReturnTo(uint64_t address) const;
  // Below `end`.
  bool FindCall(uint64_t end, CallFrame* out) const;
  // The return address into the owner of `record`, from what lies below it; 0: none.
  uint64_t CallerBelow(uint64_t record) const;
  // The caller of a stub that saved all registers, between two frame records. Returns false where
  // the copy ends before them.
  bool FindTransition(const std::vector<uint64_t>& chain, size_t natives, uint64_t fp,
                      uint64_t* caller) const;
  // How many frame records hang together from `record` on, within the copy; at most `most`.
  int Links(uint64_t record, int most) const;
  Repair Join(std::vector<uint64_t>& chain, size_t natives);

  StackCopy stack_;
  const CodeRanges* code_ = nullptr;
  const MethodStarts* methods_ = nullptr;
};

}  // namespace clrscope::capture
