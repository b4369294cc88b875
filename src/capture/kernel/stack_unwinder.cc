// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/stack_unwinder.h"

#include <algorithm>

#include "capture/kernel/native_call.h"

namespace clrscope::capture {
namespace {

using unwind::FrameRule;
using unwind::RuleState;

constexpr uint64_t kLowestCode = 1 << 16, kHighestCode = uint64_t{1} << 47;
constexpr uint64_t kLargestCopy = 1u << 20;
constexpr size_t kReadOn = 64 << 10;  // bytes beyond a copy

}  // namespace

bool StackUnwinder::MayBeUnmapped(uint64_t ip) const {
  return code_->KindOf(ip) == CodeKind::kNone && ip >= kLowestCode && ip < kHighestCode &&
         (ip < stack_.sp || ip >= stack_.end());
}

StackUnwinder::Step StackUnwinder::ByOffset(uint64_t cfa, const FrameRule& rule,
                                            const CallFrame& at, CallFrame& next) {
  if (cfa <= at.sp || cfa % 8 != 0) return Step::kNo;
  if (!stack_.Has(cfa - 8)) return cfa - 8 >= stack_.end() ? Step::kOutside : Step::kNo;
  next = {stack_.Word(cfa - 8), cfa, at.fp};
  if (!Returns(next.ip)) {
    if (MayBeUnmapped(next.ip)) met_unmapped_ = met_unknown_ = met_unknown_caller_ = true;
    return Step::kNo;
  }
  if (rule.rbp_slot != 0) {
    const uint64_t slot = cfa - uint64_t{8} * rule.rbp_slot;
    if (!stack_.Has(slot)) return Step::kNo;
    next.fp = stack_.Word(slot);
  }
  return Step::kDone;
}

// Where rbp and rsp both tell the frame, they differ if rsp was moved (stackalloc), and in handlers
// of exceptions, which run on the frame of their method: rbp is right then.
StackUnwinder::Step StackUnwinder::ByRule(const FrameRule& rule, const CallFrame& at,
                                          CallFrame& next) {
  if (!rule.from_rbp) return ByOffset(at.sp + rule.cfa_offset, rule, at, next);
  const uint64_t least = at.sp + rule.frame_bytes;
  Step step = Step::kNo;
  if (at.fp != 0 && at.fp + rule.cfa_offset >= least)
    step = ByOffset(at.fp + rule.cfa_offset, rule, at, next);
  if (step == Step::kNo && rule.frame_bytes != 0) step = ByOffset(least, rule, at, next);
  return step;
}

// Code that has no frame at all: its caller is the stack's last word, or the one before while it
// has pushed something.
StackUnwinder::Step StackUnwinder::ByWord(const CallFrame& at, CallFrame& next) {
  for (const uint64_t slot : {at.sp, at.sp + 8}) {
    if (!stack_.Has(slot) || !Returns(stack_.Word(slot))) continue;
    next = {stack_.Word(slot), slot + 8, at.fp};
    return Step::kDone;
  }
  return Step::kNo;
}

StackUnwinder::Step StackUnwinder::ByNativeCall(const CallFrame& at, CallFrame& next) {
  const auto returns = [this](uint64_t ip) { return code_->managed(ip) && Returns(ip); };
  return FindNativeCall(stack_, at.sp, stack_.end(), returns, &next) ? Step::kDone : Step::kNo;
}

StackUnwinder::Step StackUnwinder::ByRecord(const CallFrame& at, CallFrame& next) {
  uint64_t record = at.fp;
  if (record == 0) {
    // Not known: the first that leads to another one.
    for (record = at.sp; stack_.Has(record + 8); record += 8) {
      const uint64_t above = stack_.Word(record);
      if (above <= record || !stack_.Has(above + 8)) continue;
      const uint64_t ip = stack_.Word(record + 8), ip_above = stack_.Word(above + 8);
      const bool returns = Returns(ip), returns_above = Returns(ip_above);
      if (returns && returns_above) break;
      if (passed_over_ == 0 && (returns || MayBeUnmapped(ip)) &&
          (returns_above || MayBeUnmapped(ip_above)))
        passed_over_ = record;
    }
    if (!stack_.Has(record + 8)) return Step::kNo;
  }
  if (record < at.sp || record % 8 != 0) return Step::kNo;
  if (!stack_.Has(record + 8)) return record + 8 >= stack_.end() ? Step::kOutside : Step::kNo;
  next = {stack_.Word(record + 8), record + 16, stack_.Word(record)};
  return Returns(next.ip) ? Step::kDone : Step::kNo;
}

// Source: Linux arch/x86/include/uapi/asm/sigcontext.h, ucontext.h
StackUnwinder::Step StackUnwinder::BySignal(const CallFrame& at, CallFrame& next) {
  constexpr uint64_t kRbp = 120, kRsp = 160, kRip = 168;
  if (!stack_.Has(at.sp + kRip)) return Step::kOutside;
  next = {stack_.Word(at.sp + kRip), stack_.Word(at.sp + kRsp), stack_.Word(at.sp + kRbp), true};
  const bool is_code = code_->KindOf(next.ip) != CodeKind::kNone;
  return is_code && next.sp % 8 == 0 ? Step::kDone : Step::kNo;
}

// No rule tells, or what it tells cannot be (`ruled`).
StackUnwinder::Step StackUnwinder::Guess(const CallFrame& at, bool ruled, CallFrame& next) {
  if (at.leaf && !ruled) {
    if (const Step step = ByWord(at, next); step == Step::kDone) return step;
  }
  roughly_ = true;
  passed_over_ = 0;
  CallFrame by_call, by_record;
  const Step call = ByNativeCall(at, by_call), record = ByRecord(at, by_record);
  // The nearer one; what a native call says is more than a frame record.
  const bool called = call == Step::kDone && (record != Step::kDone || by_call.sp <= by_record.sp);
  next = called ? by_call : by_record;
  const Step step = called ? call : record;
  if (passed_over_ != 0 && (step != Step::kDone || passed_over_ < next.sp))
    met_unmapped_ = met_unknown_ = met_unknown_caller_ = true;
  return step;
}

StackUnwinder::End StackUnwinder::Climb(std::vector<uint64_t>& chain, CallFrame& at,
                                        const StackCopy& stack, const CodeRanges& code,
                                        size_t most) {
  return end_ = ClimbOn(chain, at, stack, code, most);
}

StackUnwinder::End StackUnwinder::ClimbOn(std::vector<uint64_t>& chain, CallFrame& at,
                                          const StackCopy& stack, const CodeRanges& code,
                                          size_t most) {
  stack_ = stack;
  code_ = &code;
  met_unknown_ = roughly_ = false;
  while (chain.size() < most) {
    const CodeRules::Answer here = rules_.At(at.ip, at.leaf, code);
    if (here.rule.state == RuleState::kRoot) return End::kRoot;
    met_unknown_ = met_unknown_ || here.owner == CodeOwner::kUnknown;
    // What runs is code: it was mapped since the map of memory was read.
    if (at.leaf && here.owner == CodeOwner::kNone) met_unmapped_ = met_unknown_ = true;
    met_unknown_caller_ = met_unknown_caller_ || (here.owner == CodeOwner::kUnknown && !at.leaf);
    CallFrame next;
    const bool ruled = here.rule.state == RuleState::kKnown;
    Step step = here.restores ? BySignal(at, next)
                : ruled       ? ByRule(here.rule, at, next)
                              : Step::kNo;
    if (step == Step::kNo) step = Guess(at, ruled, next);
    if (step == Step::kOutside) return End::kOutside;
    if (step == Step::kNo || next.sp <= at.sp) return End::kBroken;
    at = next;
    chain.push_back(at.ip);
  }
  return End::kMost;
}

void StackUnwinder::FindRecords(uint64_t first) {
  records_.clear();
  for (uint64_t record = first; records_.size() + 1 < by_records_.size();
       record = stack_.Word(record)) {
    records_.push_back(record);
    if (!stack_.Has(record) || !stack_.Has(record + 8)) break;
  }
}

// What lies between two records that are still there belongs to the same calls.
bool StackUnwinder::ReadOn() {
  if (memory_ == nullptr || stack_.bytes.empty() || records_.empty()) return false;
  const uint64_t begin = stack_.end();
  const size_t copied = static_cast<size_t>(begin - stack_.sp);
  std::vector<std::byte> read(copied + kReadOn);
  std::copy_n(stack_.bytes.begin(), copied, read.begin());
  read.resize(copied + memory_->Read(begin, std::span(read).subspan(copied)) / 8 * 8);
  const StackCopy longer{stack_.sp, read};
  uint64_t believed = begin;
  for (size_t i = records_.size() - 1; i + 1 < by_records_.size(); ++i) {
    const uint64_t record = records_[i];
    if (!longer.Has(record + 8) || longer.Word(record + 8) != by_records_[i + 1]) break;
    believed = std::max(believed, record + 16);
    const uint64_t next = longer.Word(record);
    if (next <= record || i + 2 >= by_records_.size()) break;
    if (i + 1 == records_.size()) records_.push_back(next);
  }
  longer_ = std::move(read);
  rest_ = {stack_.sp, longer_};
  if (believed <= begin) return false;
  stack_.bytes = Bytes(longer_).first(static_cast<size_t>(believed - stack_.sp));
  return true;
}

bool StackUnwinder::FindAgain(size_t index, const FrameRule& rule, CallFrame* at) {
  constexpr size_t kEnoughLinks = 3;
  if (!rule.from_rbp || index + 1 >= by_records_.size()) return false;
  for (uint64_t first = stack_.end(); rest_.Has(first + 8); first += 8) {
    size_t links = 0, i = index + 1;
    uint64_t record = first, end = first;
    for (; i < by_records_.size() && rest_.Has(record + 8); ++i) {
      const uint64_t next = rest_.Word(record);
      if (rest_.Word(record + 8) != by_records_[i]) break;
      ++links;
      end = record + 16;
      if (next <= record) break;
      record = next;
    }
    if (links < kEnoughLinks && i < by_records_.size()) continue;
    if (links < 2) continue;
    *at = {by_records_[index], first + rule.cfa_offset - rule.frame_bytes, first};
    stack_.bytes = rest_.bytes.first(static_cast<size_t>(end - stack_.sp));
    return true;
  }
  return false;
}

// Whoever is above that has no frame record: libraries that start the thread.
bool StackUnwinder::PastTheChain() const {
  return std::find(exact_.begin(), exact_.end(), by_records_.back()) != exact_.end();
}

bool StackUnwinder::Splice(const CallFrame& from) {
  const auto record = std::find(records_.begin(), records_.end(), from.fp);
  if (record == records_.end()) return PastTheChain();
  size_t next = static_cast<size_t>(record - records_.begin()) + 1;
  bool lacks = false;
  CallFrame at = from;
  while (next < by_records_.size()) {
    const CodeRules::Answer here = rules_.At(at.ip, false, *code_);
    if (here.owner == CodeOwner::kUnknown) met_unknown_ = met_unknown_caller_ = true;
    if (here.rule.state == RuleState::kKnown && by_records_[next - 1] == at.ip &&
        FindAgain(next - 1, here.rule, &at)) {
      const bool met_unknown = met_unknown_;
      const End end = Climb(exact_, at, stack_, *code_);
      met_unknown_ = met_unknown_ || met_unknown;
      return !lacks && !roughly_ && (end == End::kRoot || end == End::kMost);
    }
    if (here.owner == CodeOwner::kMethod && here.rule.state == RuleState::kKnown) {
      lacks = lacks || !here.rule.from_rbp;
      // One that was replaced on the stack: its record leads back into its first version.
      constexpr uint32_t kRecordBytes = 16;
      if (here.rule.from_rbp && here.rule.cfa_offset != kRecordBytes) {
        lacks = true;
        if (++next >= by_records_.size()) break;
      }
    }
    at.ip = by_records_[next++];
    exact_.push_back(at.ip);
  }
  return !lacks;
}

Repair StackUnwinder::Run(std::vector<uint64_t>& chain, const UserRegs& regs, Bytes stack,
                          const CodeRanges& code) {
  end_ = End::kBroken;
  met_unknown_ = met_unknown_caller_ = met_unmapped_ = false;
  if (chain.empty() || !regs.known || regs.sp % 8 != 0 || code.empty() || rules_.blind() ||
      regs.sp > ~uint64_t{0} - kLargestCopy || stack.size() > kLargestCopy)
    return repair_.Run(chain, regs, stack, code, &rules_);
  by_records_ = chain;
  exact_.assign(1, chain[0]);
  CallFrame at{chain[0], regs.sp, regs.fp, true};
  stack_ = {regs.sp, stack};
  rest_ = {};
  FindRecords(regs.fp);
  End end = Climb(exact_, at, stack_, code);
  bool complete = !roughly_;
  if (end == End::kOutside && ReadOn()) {
    const bool met_unknown = met_unknown_;
    end = Climb(exact_, at, stack_, code);
    complete = complete && !roughly_;
    met_unknown_ = met_unknown_ || met_unknown;
  }
  if (end == End::kOutside) complete = Splice(at) && complete;
  if (end == End::kBroken) {
    // The chain may have gone further.
    const Repair repair = repair_.Run(chain, regs, stack, code, &rules_);
    if (chain.size() > exact_.size()) return repair;
    complete = complete && PastTheChain();
  }
  const bool same = exact_ == by_records_;
  chain.swap(exact_);
  if (!complete) return Repair::kNotRepairable;
  return same ? Repair::kNone : Repair::kCallerInserted;
}

}  // namespace clrscope::capture
