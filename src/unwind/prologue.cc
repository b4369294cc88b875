// SPDX-License-Identifier: Apache-2.0
#include "unwind/prologue.h"

namespace clrscope::unwind {
namespace {

constexpr uint32_t kMaxFrame = 1u << 20;
constexpr uint32_t kOsrBegin = 5;  // bytes of what tells an OSR method

// Matches the bytes at the reader's place and skips them.
template <size_t N>
bool Match(Bytes& code, const uint8_t (&pattern)[N]) {
  if (code.size() < N) return false;
  for (size_t i = 0; i < N; ++i)
    if (static_cast<uint8_t>(code[i]) != pattern[i]) return false;
  code = code.subspan(N);
  return true;
}

// mov [rsp + N], reg: an OSR method saves registers into the frame of its tier-0 method.
bool MatchSave(Bytes& code) {
  if (code.size() < 5) return false;
  const auto at = [&](size_t i) { return static_cast<uint8_t>(code[i]); };
  if ((at(0) != 0x48 && at(0) != 0x4C) || at(1) != 0x89 || at(3) != 0x24) return false;
  const uint8_t mode = at(2) >> 6, base = at(2) & 7;
  if (base != 4 || (mode != 1 && mode != 2)) return false;
  const size_t length = mode == 1 ? 5 : 8;
  if (code.size() < length) return false;
  code = code.subspan(length);
  return true;
}

uint32_t Byte(Bytes& code) {
  if (code.empty()) return kMaxFrame;
  const auto v = static_cast<int8_t>(code[0]);
  code = code.subspan(1);
  return v < 0 ? kMaxFrame : static_cast<uint32_t>(v);
}

uint32_t Word(Bytes& code) {
  if (code.size() < 4) return kMaxFrame;
  uint32_t v;
  std::memcpy(&v, code.data(), 4);
  code = code.subspan(4);
  return v;
}

}  // namespace

Prologue DecodePrologue(Bytes code) {
  Prologue p;
  // What an OSR method begins with: mov rax, [rbp]; push rax. That slot is its saved rbp.
  p.osr = Match(code, {0x48, 0x8B, 0x45, 0x00, 0x50});
  uint32_t depth = p.osr ? 8 : 0;
  if (p.osr) p.rbp_slot = 1;  // below its own entry, see RuleOf
  const size_t limit = code.size();
  while (limit - code.size() < 80) {
    if (Match(code, {0x55})) {  // push rbp
      depth += 8;
      if (p.rbp_slot == 0) p.rbp_slot = depth / 8 + 1;
    } else if (Match(code, {0x53}) || Match(code, {0x41, 0x54}) || Match(code, {0x41, 0x55}) ||
               Match(code, {0x41, 0x56}) || Match(code, {0x41, 0x57}) || Match(code, {0x50})) {
      depth += 8;  // push rbx, r12 … r15; push rax stands for sub rsp, 8
    } else if (Match(code, {0x48, 0x83, 0xEC})) {
      depth += Byte(code);
    } else if (Match(code, {0x48, 0x81, 0xEC})) {
      depth += Word(code);
    } else if (Match(code, {0x48, 0x8B, 0xEC}) || Match(code, {0x48, 0x89, 0xE5})) {
      p.sets_rbp = true;  // mov rbp, rsp
      p.rbp_to_cfa = 8 + depth;
    } else if (Match(code, {0x48, 0x8D, 0x6C, 0x24})) {  // lea rbp, [rsp + i8]
      const uint32_t up = Byte(code);
      if (up > depth) return p;
      p.sets_rbp = true;
      p.rbp_to_cfa = 8 + depth - up;
    } else if (Match(code, {0x48, 0x8D, 0xAC, 0x24})) {  // lea rbp, [rsp + i32]
      const uint32_t up = Word(code);
      if (up > depth) return p;
      p.sets_rbp = true;
      p.rbp_to_cfa = 8 + depth - up;
    } else if (Match(code, {0x4C, 0x8D, 0x9C, 0x24})) {
      // lea r11, [rsp - N]; call JIT_StackProbe; mov rsp, r11: a frame of more than a page.
      const uint32_t down = 0u - Word(code);
      const bool call = Match(code, {0xE8})         ? (Word(code), true)
                        : Match(code, {0xFF, 0x15}) ? (Word(code), true)
                                                    : false;
      if (!call || !(Match(code, {0x49, 0x8B, 0xE3}) || Match(code, {0x4C, 0x89, 0xDC}))) return p;
      depth += down;
    } else if (Match(code, {0x85, 0x04, 0x24}) || Match(code, {0x48, 0x85, 0x04, 0x24}) ||
               Match(code, {0xC5, 0xF8, 0x77}) || (p.osr && MatchSave(code))) {
      continue;  // test [rsp], eax (touches a page); vzeroupper
    } else {
      break;
    }
    if (depth >= kMaxFrame) return p;
  }
  p.frame_bytes = depth;
  p.length = static_cast<uint32_t>(limit - code.size()) + (p.osr ? kOsrBegin : 0);
  p.known = true;
  return p;
}

FrameRule RuleOf(const Prologue& p, const Prologue& tier0) {
  FrameRule r;
  r.managed = true;
  r.state = RuleState::kSnapshot;
  if (!p.known) return r;
  // An OSR method is entered as if it had been called from its tier-0 frame: 8 bytes for a return
  // address that nobody returns to, the frame of tier 0, the return address.
  uint32_t below = 8;
  if (p.osr) {
    if (!tier0.known || tier0.osr || !p.sets_rbp) return r;
    below = 8 + tier0.frame_bytes + 8;
  }
  r.state = RuleState::kKnown;
  r.cfa_offset = p.frame_bytes + below;
  if (p.osr) {
    r.rbp_slot = static_cast<uint16_t>((below + 8) / 8);
  } else {
    r.rbp_slot = static_cast<uint16_t>(p.rbp_slot);
  }
  if (!p.sets_rbp) return r;
  // rbp tells it too. Where the two disagree, rsp was moved in the body (stackalloc), or this is a
  // funclet of the method, which has a frame of its own below those of code that threw.
  r.from_rbp = true;
  r.frame_bytes = r.cfa_offset;
  r.cfa_offset = p.rbp_to_cfa + (below - 8);
  return r;
}

}  // namespace clrscope::unwind
