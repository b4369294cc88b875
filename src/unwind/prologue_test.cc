// SPDX-License-Identifier: Apache-2.0
// Prologues as the JIT of .NET 8 and 10 wrote them.
#include "unwind/prologue.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace clrscope::unwind {
namespace {

std::vector<std::byte> Code(std::string_view hex) {
  std::vector<std::byte> out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

TEST(Prologue, FrameWithRbp) {
  // push rbp; sub rsp, 20h; lea rbp, [rsp+20h]
  const Prologue p = DecodePrologue(Code("554883ec20488d6c242033c08945ec"));
  ASSERT_TRUE(p.known);
  EXPECT_TRUE(p.sets_rbp);
  EXPECT_EQ(p.frame_bytes, 40u);
  const FrameRule r = RuleOf(p, {});
  EXPECT_EQ(r.state, RuleState::kKnown);
  EXPECT_TRUE(r.from_rbp);
  EXPECT_EQ(r.cfa_offset, 16u);
  EXPECT_EQ(r.frame_bytes, 48u);
  EXPECT_EQ(r.rbp_slot, 2);
}

TEST(Prologue, CalleeSavedRegisters) {
  // push rbp, r15, r14, r13, r12, rbx; sub rsp, 1F8h; lea rbp, [rsp+220h]
  const Prologue p = DecodePrologue(Code("554157415641554154534881ecf8010000488dac2420020000488b"));
  ASSERT_TRUE(p.known);
  EXPECT_EQ(p.frame_bytes, 6u * 8 + 0x1f8);
  EXPECT_EQ(RuleOf(p, {}).cfa_offset, 16u);
}

TEST(Prologue, VectorUpperHalvesAreClearedInBetween) {
  const Prologue p = DecodePrologue(Code("554881ec80000000c5f877488dac248000000033c0"));
  ASSERT_TRUE(p.known);
  EXPECT_TRUE(p.sets_rbp);
  EXPECT_EQ(p.frame_bytes, 136u);
}

TEST(Prologue, FramelessMethods) {
  const FrameRule pushed = RuleOf(DecodePrologue(Code("50488bfebe02000000ba28000000")), {});
  EXPECT_FALSE(pushed.from_rbp);
  EXPECT_EQ(pushed.cfa_offset, 16u);
  EXPECT_EQ(pushed.rbp_slot, 0);
  const FrameRule subtracted = RuleOf(DecodePrologue(Code("4883ec184c8b4730448b4f2c")), {});
  EXPECT_EQ(subtracted.cfa_offset, 32u);
  EXPECT_EQ(subtracted.frame_bytes, 0u);
}

TEST(Prologue, OsrRunsOnItsTier0Frame) {
  // mov rax, [rbp]; push rax; sub rsp, 30h; mov [rsp+0F8h], r15; mov [rsp+0F0h], r14;
  // lea rbp, [rsp+30h]
  const Prologue p =
      DecodePrologue(Code("488b4500504883ec304c89bc24f80000004c89b424f0000000488d6c2430"));
  ASSERT_TRUE(p.known);
  EXPECT_TRUE(p.osr);
  EXPECT_TRUE(p.sets_rbp);
  const Prologue tier0 = DecodePrologue(Code("554881ecc0000000488dac24c000000033c0"));
  const FrameRule r = RuleOf(p, tier0);
  EXPECT_EQ(r.state, RuleState::kKnown);
  EXPECT_EQ(r.cfa_offset, 224u);
  EXPECT_EQ(r.frame_bytes, 272u);
  EXPECT_EQ(r.rbp_slot, 28);
  EXPECT_EQ(RuleOf(p, {}).state, RuleState::kSnapshot) << "nothing is guessed without tier 0";
}

TEST(Prologue, LargeFramesAreProbed) {
  // lea r11, [rsp-2000h]; call JIT_StackProbe; mov rsp, r11
  const Prologue p = DecodePrologue(Code("554c8d9c2400e0ffffe811223344498be3488dac2400200000"));
  ASSERT_TRUE(p.known);
  EXPECT_EQ(p.frame_bytes, 8u + 0x2000);
}

TEST(Prologue, NonsenseIsRefused) {
  EXPECT_FALSE(DecodePrologue(Code("4881ecffffffff")).known);
  EXPECT_FALSE(DecodePrologue(Code("554c8d9c2400e0ffff90")).known);
  EXPECT_EQ(RuleOf(DecodePrologue(Code("4881ecffffffff")), {}).state, RuleState::kSnapshot);
}

TEST(FrameRule, SurvivesPacking) {
  FrameRule r;
  r.state = RuleState::kKnown;
  r.managed = r.from_rbp = true;
  r.cfa_offset = 0x7ffff8;
  r.rbp_slot = 0xffff;
  r.frame_bytes = 272;
  r.exact = true;
  const FrameRule back = FrameRule::Unpack(r.Pack());
  EXPECT_EQ(back.cfa_offset, r.cfa_offset);
  EXPECT_EQ(back.rbp_slot, r.rbp_slot);
  EXPECT_EQ(back.frame_bytes, r.frame_bytes);
  EXPECT_TRUE(back.exact);
  EXPECT_FALSE(FrameRule::Unpack(FrameRule{}.Pack()).exact);
  EXPECT_TRUE(back.managed && back.from_rbp);
  r.cfa_offset = 8u << 20;
  EXPECT_EQ(FrameRule::Unpack(r.Pack()).state, RuleState::kSnapshot) << "too large to say";
}

}  // namespace
}  // namespace clrscope::unwind
