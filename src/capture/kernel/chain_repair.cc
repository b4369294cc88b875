// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/chain_repair.h"

#include <algorithm>

namespace clrscope::capture {
namespace {

// Fewer frame records that hang together may be left-overs.
constexpr int kEnoughLinks = 3;

}  // namespace

bool ChainRepair::Copied(uint64_t address) const {
  return address % 8 == 0 && address >= sp_ && address < copy_end();
}

uint64_t ChainRepair::Word(uint64_t address) const {
  return Copied(address) ? LoadAt<uint64_t>(stack_.data() + (address - sp_)) : 0;
}

bool ChainRepair::MayReturnTo(uint64_t address) const {
  if (!code_->managed(address)) return false;
  const uint64_t start = methods_ ? methods_->StartOf(address) : MethodStarts::kUnknown;
  return start != 0 && start != address;
}

// A method that calls native code keeps, for the runtime's own walks, where its stack was at the
// call, where the call returns to, and its frame pointer, one after the other. The call pushed the
// return address itself, so what is left over of earlier calls does not look the same.
// Source: dotnet/runtime src/coreclr/vm/frames.h, InlinedCallFrame
bool ChainRepair::FindNativeCall(uint64_t end, uint64_t* caller, uint64_t* record) const {
  end = std::min(end, copy_end());
  for (uint64_t at = sp_ + 8; at < end; at += 8) {
    const uint64_t stack = Word(at - 8), word = Word(at), frame = Word(at + 8);
    if (stack > at || frame <= at || frame % 8 != 0 || !Copied(stack - 8)) continue;
    if (Word(stack - 8) != word || !MayReturnTo(word)) continue;
    *caller = word;
    *record = frame;
    return true;
  }
  return false;
}

// What lies above the return address are the method's own locals, so it is the first that may be.
uint64_t ChainRepair::CallerBelow(uint64_t record) const {
  uint64_t caller = 0, frame = 0;
  if (FindNativeCall(record, &caller, &frame) && frame == record) return caller;
  const uint64_t end = std::min(record, copy_end());
  for (uint64_t at = sp_; at < end; at += 8)
    if (const uint64_t word = Word(at); MayReturnTo(word)) return word;
  return 0;
}

int ChainRepair::Links(uint64_t record, int most) const {
  int links = 0;
  while (links < most && Copied(record) && Copied(record + 8)) {
    const uint64_t next = Word(record);
    if (next <= record || next % 8 != 0 || code_->KindOf(Word(record + 8)) == CodeKind::kNone)
      break;
    ++links;
    record = next;
  }
  return links;
}

// A stub that saves all registers before it calls the runtime has no frame record. What it saved
// ends with rbp, which is still its caller's, and the return address into that caller.
// Source: dotnet/runtime src/coreclr/vm/amd64/cgencpu.h, CalleeSavedRegisters and TransitionBlock
bool ChainRepair::FindTransition(const std::vector<uint64_t>& chain, size_t natives, uint64_t fp,
                                 uint64_t* caller) const {
  // The record whose return address is the last native frame of the chain.
  uint64_t record = fp;
  for (size_t i = 1; i < natives; ++i) {
    if (!Copied(record) || !Copied(record + 8)) return false;
    if (Word(record + 8) != chain[i]) return true;  // not what the kernel walked
    if (i + 1 < natives) record = Word(record);
  }
  const uint64_t next = Word(record);
  for (uint64_t at = record + 16; at + 8 < next; at += 8) {
    if (!Copied(at + 8)) return false;
    if (Word(at) != next || !MayReturnTo(Word(at + 8))) continue;
    *caller = Word(at + 8);
    return true;
  }
  return true;
}

Repair ChainRepair::Join(std::vector<uint64_t>& chain, size_t natives) {
  uint64_t record = sp_, caller = 0;
  if (!FindNativeCall(copy_end(), &caller, &record)) {
    if (CallerBelow(copy_end()) == 0) return Repair::kNone;  // a thread of the runtime's own
    while (record < copy_end() &&
           (Links(record, kEnoughLinks) < kEnoughLinks || !MayReturnTo(Word(record + 8))))
      record += 8;
    if (record >= copy_end()) return Repair::kNotRepairable;
    caller = CallerBelow(record);
  }
  chain.resize(natives);
  if (caller != 0) chain.push_back(caller);
  while (Links(record, 1) == 1) {
    chain.push_back(Word(record + 8));
    record = Word(record);
  }
  return Repair::kJoined;
}

Repair ChainRepair::Run(std::vector<uint64_t>& chain, const UserRegs& regs, Bytes stack,
                        const CodeRanges& code, const MethodStarts* methods) {
  if (chain.empty() || !regs.known || regs.sp % 8 != 0 || code.empty()) return Repair::kNone;
  // An address space ends before a copy could wrap around.
  if (regs.sp > ~uint64_t{0} - (uint64_t{1} << 20) || stack.size() > (1u << 17))
    return Repair::kNone;
  sp_ = regs.sp;
  stack_ = stack;
  code_ = &code;
  methods_ = methods;

  size_t natives = 1;
  const CodeKind leaf = code.KindOf(chain[0]);
  if (leaf == CodeKind::kNone) return Repair::kNone;
  if (leaf == CodeKind::kManaged) {
    const uint64_t start = methods ? methods->StartOf(chain[0]) : MethodStarts::kUnknown;
    if (start == MethodStarts::kUnknown) return Repair::kNone;
    if (start != 0) {
      // A method has its frame once its prologue has run. Before its first instruction the return
      // address is the stack's last word.
      const uint64_t caller = start == chain[0] ? Word(sp_) : 0;
      if (caller == 0 || code.KindOf(caller) == CodeKind::kNone ||
          (chain.size() > 1 && chain[1] == caller))
        return Repair::kNone;
      chain.insert(chain.begin() + 1, caller);
      return Repair::kCallerInserted;
    }
  } else {
    while (natives < chain.size() && code.KindOf(chain[natives]) == CodeKind::kNative) ++natives;
  }

  const uint64_t next = natives < chain.size() ? chain[natives] : 0;
  if (!code.managed(next)) return Join(chain, natives);
  uint64_t caller = 0;
  if (natives > 1) {
    // Native frames that have records are complete, so words above them prove nothing.
    if (!FindTransition(chain, natives, regs.fp, &caller)) return Repair::kNotRepairable;
  } else {
    caller = MayReturnTo(regs.lr) ? regs.lr : CallerBelow(regs.fp);
    if (caller == 0 && regs.fp > copy_end()) return Repair::kNotRepairable;
  }
  if (caller == 0 || caller == next) return Repair::kNone;
  chain.insert(chain.begin() + static_cast<std::ptrdiff_t>(natives), caller);
  return Repair::kCallerInserted;
}

uint64_t ChainRepair::Climb(std::vector<uint64_t>& chain, uint64_t record, size_t most) {
  unknown_ = 0;
  while (Copied(record) && Copied(record + 8)) {
    const uint64_t next = Word(record), caller = Word(record + 8);
    if (chain.size() >= most) return 0;
    if (code_->KindOf(caller) == CodeKind::kNone) {
      if (MayBeInNewCode(record)) unknown_ = caller;
      return 0;
    }
    chain.push_back(caller);
    if (next <= record || next % 8 != 0) return 0;
    record = next;
  }
  return record;
}

bool ChainRepair::MayBeInNewCode(uint64_t record) const {
  constexpr uint64_t kFarthest = uint64_t{1} << 20, kLowest = uint64_t{1} << 16;
  const uint64_t next = Word(record), caller = Word(record + 8);
  return next > record && next - record < kFarthest && next % 8 == 0 && caller >= kLowest &&
         (caller < sp_ || caller - sp_ > kFarthest) && code_->MayBecomeCode(caller);
}

uint64_t ChainRepair::Continue(std::vector<uint64_t>& chain, uint64_t record, Bytes stack,
                               const CodeRanges& code, size_t most) {
  sp_ = record;
  stack_ = stack;
  code_ = &code;
  methods_ = nullptr;
  return record % 8 == 0 ? Climb(chain, record, most) : 0;
}

// The first frame records that hang together are those of the call's callers. A method that calls
// native code without a frame says so itself, below its own record.
uint64_t ChainRepair::Blocked(std::vector<uint64_t>& chain, uint64_t sp, Bytes stack,
                              const CodeRanges& code, size_t most) {
  if (sp % 8 != 0 || sp > ~uint64_t{0} - (uint64_t{1} << 20)) return 0;
  sp_ = sp;
  stack_ = stack;
  code_ = &code;
  methods_ = nullptr;
  unknown_ = 0;
  uint64_t record = sp, unknown = 0;
  for (; record < copy_end() && Links(record, kEnoughLinks) < kEnoughLinks; record += 8) {
    if (unknown == 0 && MayBeInNewCode(record)) {
      const uint64_t next = Word(record);
      if (Links(next, 1) == 1 || MayBeInNewCode(next)) unknown = Word(record + 8);
    }
  }
  if (record >= copy_end()) record = copy_end();
  uint64_t caller = 0, frame = 0;
  if (FindNativeCall(record, &caller, &frame)) {
    chain.push_back(caller);
    record = frame;
  }
  const uint64_t next = record < copy_end() ? Climb(chain, record, most) : 0;
  if (unknown != 0) unknown_ = unknown;  // it comes first
  return next;
}

}  // namespace clrscope::capture
