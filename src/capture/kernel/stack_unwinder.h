// SPDX-License-Identifier: Apache-2.0
// Walks a thread's stack from a copy of its end, frame by frame, by the rules of the code. Each
// step must lead to where a call returns to. Beyond the copy a sample's stack is read from the
// process, a moment later, and believed as far as the chain of frame pointers that the kernel, or a
// signal's handler, has walked is still there. What has changed meanwhile is taken from that chain.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/kernel/chain_repair.h"
#include "capture/kernel/code_rules.h"
#include "capture/kernel/perf_record.h"
#include "capture/kernel/process_memory.h"
#include "capture/kernel/stack_copy.h"
#include "profile/stacks/stack_tree.h"

namespace clrscope::capture {

class StackUnwinder {
 public:
  // Of one stack, its leaf included.
  static constexpr size_t kMostFrames = profile::StackTree::kMostFrames;

  enum class End : uint8_t {
    kRoot,     // the thread's begin
    kOutside,  // the copy ends
    kMost,     // as many frames as were asked for
    kBroken,   // nothing tells how it goes on
  };

  // `memory`: where the rest of a sample's stack is read; null: nowhere. Both must outlive it.
  explicit StackUnwinder(CodeRules* rules, ProcessMemory* memory = nullptr)
      : rules_(*rules), memory_(memory) {}

  // Appends the callers of `at`, whose own address is in `chain` already, and leaves it at the last
  // one's frame.
  End Climb(std::vector<uint64_t>& chain, CallFrame& at, const StackCopy& stack,
            const CodeRanges& code, size_t most = kMostFrames);

  // A sample's stack. `chain`: its addresses by frame pointers, leaf first, which is replaced.
  // Returns kNotRepairable where callers may be missing.
  Repair Run(std::vector<uint64_t>& chain, const UserRegs& regs, Bytes stack,
             const CodeRanges& code);

  // The stack that the last Run() walked: the copy, and what was read beyond it.
  Bytes walked() const { return stack_.bytes; }
  // Of the last call: it met code that nobody has told of yet, so that it may go better later.
  bool met_unknown() const { return met_unknown_; }
  // Of the last Run(): it met what may be code that `code` does not have.
  bool met_unmapped() const { return met_unmapped_; }
  // … and not only where it runs, which may be a stub that is never told of.
  bool met_unknown_caller() const { return met_unknown_caller_; }
  // Of the last call: it came to the thread's begin.
  bool at_root() const { return end_ == End::kRoot; }
  // Of the last Climb(): a frame was only known by its frame pointer.
  bool roughly() const { return roughly_; }

 private:
  End ClimbOn(std::vector<uint64_t>& chain, CallFrame& at, const StackCopy& stack,
              const CodeRanges& code, size_t most);
  enum class Step : uint8_t { kDone, kOutside, kNo };
  // Each sets `next` to the caller's frame.
  Step ByRule(const unwind::FrameRule& rule, const CallFrame& at, CallFrame& next);
  Step ByOffset(uint64_t cfa, const unwind::FrameRule& rule, const CallFrame& at, CallFrame& next);
  Step ByWord(const CallFrame& at, CallFrame& next);
  Step ByNativeCall(const CallFrame& at, CallFrame& next);
  Step ByRecord(const CallFrame& at, CallFrame& next);
  // Into what a signal has interrupted.
  Step BySignal(const CallFrame& at, CallFrame& next);
  Step Guess(const CallFrame& at, bool ruled, CallFrame& next);
  // A call returns to it.
  bool Returns(uint64_t ip) { return rules_.At(ip, false, *code_).returns; }
  // Code may have been mapped there since the map of memory was read.
  bool MayBeUnmapped(uint64_t ip) const;
  // Where the frame records of by_records_ are, as far as the stack tells.
  void FindRecords(uint64_t first);
  // Makes the stack longer. Returns whether it is.
  bool ReadOn();
  // Goes on with the chain of frame pointers where the stack ends, until what was read beyond it is
  // as that chain says. Returns whether no caller can be missing.
  bool Splice(const CallFrame& from);
  // The chain of frame pointers ends within what was walked.
  bool PastTheChain() const;
  // Finds the frame of by_records_[index] in what was read, by its record and those above.
  bool FindAgain(size_t index, const unwind::FrameRule& rule, CallFrame* at);

  CodeRules& rules_;
  ProcessMemory* memory_;
  ChainRepair repair_;
  StackCopy stack_;
  StackCopy rest_;  // stack_ and all that was read beyond it, believed or not
  const CodeRanges* code_ = nullptr;
  std::vector<uint64_t> by_records_, exact_;
  End end_ = End::kBroken;
  std::vector<uint64_t> records_;  // by_records_[i + 1] is what records_[i] returns to
  std::vector<std::byte> longer_;
  // Of a search: the first frame record that may be one, but for code that is not mapped; 0: none.
  uint64_t passed_over_ = 0;
  bool met_unknown_ = false, met_unknown_caller_ = false, met_unmapped_ = false, roughly_ = false;
};

}  // namespace clrscope::capture
