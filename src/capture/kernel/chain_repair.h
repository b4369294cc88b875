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

  // Of a blocked thread, of which the stack is known from `sp` upwards and no frame pointer:
  // system calls are made by code without frames. Appends the return addresses above, up to `most`
  // of all. Returns the frame record with which the walk goes on above `stack`; 0: it is over.
  uint64_t Blocked(std::vector<uint64_t>& chain, uint64_t sp, Bytes stack, const CodeRanges& code,
                   size_t most);
  // The address that ended the last of these walks, as nothing is known to be there; 0: none.
  uint64_t unknown() const { return unknown_; }
  // The same from a frame record on, which is `stack`'s begin.
  uint64_t Continue(std::vector<uint64_t>& chain, uint64_t record, Bytes stack,
                    const CodeRanges& code, size_t most);

 private:
  // A word of the copied stack, by its address; 0 outside.
  uint64_t Word(uint64_t address) const;
  bool Copied(uint64_t address) const;
  uint64_t copy_end() const { return sp_ + stack_.size() / 8 * 8; }
  // Managed code, and neither a method's first instruction nor in a stub, where known: pointers to
  // those lie on stacks too, and no call returns there.
  bool MayReturnTo(uint64_t address) const;
  // Of the innermost method that calls native code and says so: where it returns to, and its frame
  // record. Only between `sp` and `end`.
  bool FindNativeCall(uint64_t end, uint64_t* caller, uint64_t* record) const;
  // The return address into the owner of `record`, from what lies below it; 0: none.
  uint64_t CallerBelow(uint64_t record) const;
  // The caller of a stub that saved all registers, between two frame records. Returns false where
  // the copy ends before them.
  bool FindTransition(const std::vector<uint64_t>& chain, size_t natives, uint64_t fp,
                      uint64_t* caller) const;
  // How many frame records hang together from `record` on, within the copy; at most `most`.
  int Links(uint64_t record, int most) const;
  // It is a frame record but for where it returns to, which is no code that is known.
  bool MayBeInNewCode(uint64_t record) const;
  uint64_t Climb(std::vector<uint64_t>& chain, uint64_t record, size_t most);
  Repair Join(std::vector<uint64_t>& chain, size_t natives);

  uint64_t sp_ = 0, unknown_ = 0;
  Bytes stack_;
  const CodeRanges* code_ = nullptr;
  const MethodStarts* methods_ = nullptr;
};

}  // namespace clrscope::capture
