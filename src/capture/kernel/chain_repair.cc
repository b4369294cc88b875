// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/chain_repair.h"

#include <algorithm>

#include "capture/kernel/native_call.h"

namespace clrscope::capture {
namespace {

// Fewer frame records that hang together may be left-overs.
constexpr int kEnoughLinks = 3;

}  // namespace

bool ChainRepair::MayReturnTo(uint64_t address) const {
  if (!code_->managed(address)) return false;
  const uint64_t start = methods_ ? methods_->StartOf(address) : MethodStarts::kUnknown;
  return start != 0 && start != address;
}

bool ChainRepair::FindCall(uint64_t end, CallFrame* out) const {
  return FindNativeCall(
      stack_, stack_.sp, end, [this](uint64_t ip) { return MayReturnTo(ip); }, out);
}

// What lies above the return address are the method's own locals, so it is the first that may be.
uint64_t ChainRepair::CallerBelow(uint64_t record) const {
  if (CallFrame call; FindCall(record, &call) && call.fp == record) return call.ip;
  const uint64_t end = std::min(record, stack_.end());
  for (uint64_t at = stack_.sp; at < end; at += 8)
    if (const uint64_t word = stack_.Word(at); MayReturnTo(word)) return word;
  return 0;
}

int ChainRepair::Links(uint64_t record, int most) const {
  int links = 0;
  while (links < most && stack_.Has(record) && stack_.Has(record + 8)) {
    const uint64_t next = stack_.Word(record);
    if (next <= record || next % 8 != 0 ||
        code_->KindOf(stack_.Word(record + 8)) == CodeKind::kNone)
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
    if (!stack_.Has(record) || !stack_.Has(record + 8)) return false;
    if (stack_.Word(record + 8) != chain[i]) return true;  // not what the kernel walked
    if (i + 1 < natives) record = stack_.Word(record);
  }
  const uint64_t next = stack_.Word(record);
  for (uint64_t at = record + 16; at + 8 < next; at += 8) {
    if (!stack_.Has(at + 8)) return false;
    if (stack_.Word(at) != next || !MayReturnTo(stack_.Word(at + 8))) continue;
    *caller = stack_.Word(at + 8);
    return true;
  }
  return true;
}

Repair ChainRepair::Join(std::vector<uint64_t>& chain, size_t natives) {
  uint64_t record = stack_.sp, caller = 0;
  if (CallFrame call; FindCall(stack_.end(), &call)) {
    caller = call.ip;
    record = call.fp;
  } else {
    if (CallerBelow(stack_.end()) == 0) return Repair::kNone;  // a thread of the runtime's own
    while (record < stack_.end() &&
           (Links(record, kEnoughLinks) < kEnoughLinks || !MayReturnTo(stack_.Word(record + 8))))
      record += 8;
    if (record >= stack_.end()) return Repair::kNotRepairable;
    caller = CallerBelow(record);
  }
  chain.resize(natives);
  if (caller != 0) chain.push_back(caller);
  while (Links(record, 1) == 1) {
    chain.push_back(stack_.Word(record + 8));
    record = stack_.Word(record);
  }
  return Repair::kJoined;
}

Repair ChainRepair::Run(std::vector<uint64_t>& chain, const UserRegs& regs, Bytes stack,
                        const CodeRanges& code, const MethodStarts* methods) {
  if (chain.empty() || !regs.known || regs.sp % 8 != 0 || code.empty()) return Repair::kNone;
  // An address space ends before a copy could wrap around.
  if (regs.sp > ~uint64_t{0} - (uint64_t{1} << 20) || stack.size() > (1u << 17))
    return Repair::kNone;
  stack_ = {regs.sp, stack};
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
      const uint64_t caller = start == chain[0] ? stack_.Word(stack_.sp) : 0;
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
    if (caller == 0 && regs.fp > stack_.end()) return Repair::kNotRepairable;
  }
  if (caller == 0 || caller == next) return Repair::kNone;
  chain.insert(chain.begin() + static_cast<std::ptrdiff_t>(natives), caller);
  return Repair::kCallerInserted;
}

}  // namespace clrscope::capture
