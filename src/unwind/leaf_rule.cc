// SPDX-License-Identifier: Apache-2.0
#include "unwind/leaf_rule.h"

#include <algorithm>

namespace clrscope::unwind {
namespace {

constexpr int64_t kMostMoved = 1 << 20;

// Reads instructions one after the other.
class Instructions {
 public:
  explicit Instructions(Bytes code) : code_(code) {}
  // Skips `size` bytes when they are these; the pattern's -1 is any byte.
  template <size_t N>
  bool Match(const int (&pattern)[N]) {
    if (code_.size() < N) return false;
    for (size_t i = 0; i < N; ++i)
      if (pattern[i] >= 0 && std::to_integer<int>(code_[i]) != pattern[i]) return false;
    code_ = code_.subspan(N);
    return true;
  }
  // A pop; `reg` is its number.
  bool Pop(int* reg) {
    size_t i = 0;
    const bool upper = !code_.empty() && code_[0] == std::byte{0x41};
    if (upper) i = 1;
    if (code_.size() <= i) return false;
    const int op = std::to_integer<int>(code_[i]);
    if (op < 0x58 || op > 0x5f) return false;
    *reg = op - 0x58 + (upper ? 8 : 0);
    code_ = code_.subspan(i + 1);
    return true;
  }
  int64_t Signed8() {
    const auto v = static_cast<int8_t>(code_.empty() ? std::byte{0} : code_[0]);
    code_ = code_.subspan(std::min<size_t>(1, code_.size()));
    return v;
  }
  int64_t Signed32() {
    if (code_.size() < 4) {
      code_ = {};
      return 0;
    }
    const auto v = LoadAt<int32_t>(code_.data());
    code_ = code_.subspan(4);
    return v;
  }

 private:
  Bytes code_;
};

constexpr int kRbpInCode = 5;
constexpr int64_t kNotPopped = -1;  // places are multiples of 8

}  // namespace

FrameRule EpilogueRule(Bytes code) {
  constexpr int kMostInstructions = 16;
  Instructions in(code);
  FrameRule rule;
  rule.managed = true;
  int64_t moved = 0, rbp_at = kNotPopped;  // both from rsp, or rbp where that becomes it
  bool undoes = false;
  for (int i = 0; i < kMostInstructions; ++i) {
    int reg = 0;
    if (in.Match({0xc5, 0xf8, 0x77})) continue;  // vzeroupper
    if (in.Match({0x48, 0x83, 0xc4})) {          // add rsp, i8
      moved += in.Signed8();
    } else if (in.Match({0x48, 0x81, 0xc4})) {  // add rsp, i32
      moved += in.Signed32();
    } else if (!undoes && in.Match({0x48, 0x8d, 0x65})) {  // lea rsp, [rbp + i8]
      rule.from_rbp = true;
      moved = in.Signed8();
    } else if (!undoes && in.Match({0x48, 0x8d, 0xa5})) {  // lea rsp, [rbp + i32]
      rule.from_rbp = true;
      moved = in.Signed32();
    } else if (!undoes && (in.Match({0x48, 0x8b, 0xe5}) || in.Match({0x48, 0x89, 0xec}))) {
      rule.from_rbp = true;  // mov rsp, rbp
    } else if (in.Pop(&reg)) {
      if (reg == kRbpInCode) rbp_at = moved;
      moved += 8;
    } else if (in.Match({0xc3}) || in.Match({0xf3, 0xc3}) ||
               (undoes && (in.Match({0xe9}) || in.Match({0xff, 0x25}) || in.Match({0xff, 0xe0}) ||
                           in.Match({0x48, 0xff, 0xe0}) || in.Match({0xff, 0x20}) ||
                           in.Match({0x48, 0xff, 0x20})))) {
      const int64_t cfa = moved + 8;
      if (cfa < 8 || cfa > kMostMoved) return {};
      rule.state = RuleState::kKnown;
      rule.cfa_offset = static_cast<uint32_t>(cfa);
      if (rbp_at != kNotPopped) rule.rbp_slot = static_cast<uint16_t>((cfa - rbp_at) / 8);
      return rule;
    } else {
      return {};
    }
    if (moved < -kMostMoved || moved > kMostMoved) return {};
    undoes = true;
  }
  return {};
}

std::vector<FrameRule> EpiloguesIn(Bytes code, size_t most) {
  std::vector<FrameRule> found;
  for (; code.size() >= 3 && found.size() < most; code = code.subspan(1)) {
    if (code[0] != std::byte{0x48}) continue;
    const auto op = std::to_integer<int>(code[1]), mode = std::to_integer<int>(code[2]);
    const bool adds = (op == 0x81 || op == 0x83) && mode == 0xc4;
    const bool loads = op == 0x8d && (mode == 0x65 || mode == 0xa5);
    if (!adds && !loads) continue;
    if (const FrameRule rule = EpilogueRule(code); rule.state == RuleState::kKnown)
      found.push_back(rule);
  }
  return found;
}

FrameRule LeafRule(const LeafCode& code, const Prologue& prologue, const Prologue& tier0) {
  if (prologue.known && code.offset < prologue.length && code.offset <= code.start.size()) {
    // What it has done by now. Before its first instruction an OSR method looks like any other.
    Prologue done = DecodePrologue(code.start.first(code.offset));
    if (prologue.osr && !done.osr) {
      done.known = code.offset == 0 || code.offset == 4;  // before its mov and its push
      done.osr = true;
      done.frame_bytes = 0;
    }
    FrameRule rule;
    rule.managed = true;
    rule.state = RuleState::kSnapshot;
    if (!done.known || (done.osr && (!tier0.known || tier0.osr))) return rule;
    const uint32_t below = done.osr ? 8 + tier0.frame_bytes + 8 : 8;
    rule.state = RuleState::kKnown;
    rule.cfa_offset = done.frame_bytes + below;
    rule.rbp_slot = static_cast<uint16_t>(done.osr ? tier0.rbp_slot : done.rbp_slot);
    return rule;
  }
  const FrameRule undone = EpilogueRule(code.at);
  return undone.state == RuleState::kKnown ? undone : RuleOf(prologue, tier0);
}

}  // namespace clrscope::unwind
