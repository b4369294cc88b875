// SPDX-License-Identifier: Apache-2.0
// Methods as the JIT of .NET 10 wrote them, looked at between any two of their instructions.
#include "unwind/leaf_rule.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace clrscope::unwind {
namespace {

std::vector<std::byte> LeafBytes(std::string_view hex) {
  std::vector<std::byte> out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

FrameRule RuleIn(const std::vector<std::byte>& method, uint64_t offset,
                 const Prologue& tier0 = {}) {
  LeafCode code;
  code.start = method;
  code.offset = offset;
  code.at = Bytes(method).subspan(offset);
  return LeafRule(code, DecodePrologue(method), tier0);
}

// push rbp; push rbx; sub rsp, 18h; lea rbp, [rsp+20h]; nop; add rsp, 18h; pop rbx; pop rbp; ret
const std::vector<std::byte> kFramed = LeafBytes("55534883ec18488d6c24209090904883c4185b5dc3");

TEST(LeafRule, APrologueHasDoneAPart) {
  const struct {
    uint64_t offset;
    uint32_t cfa;
    uint16_t rbp_slot;
  } kSteps[] = {{0, 8, 0}, {1, 16, 2}, {2, 24, 2}, {6, 48, 2}};
  for (const auto& step : kSteps) {
    const FrameRule r = RuleIn(kFramed, step.offset);
    EXPECT_EQ(r.state, RuleState::kKnown) << step.offset;
    EXPECT_FALSE(r.from_rbp) << step.offset;
    EXPECT_EQ(r.cfa_offset, step.cfa) << step.offset;
    EXPECT_EQ(r.rbp_slot, step.rbp_slot) << step.offset;
  }
}

TEST(LeafRule, TheBodyIsAsAtItsCalls) {
  const FrameRule r = RuleIn(kFramed, 12);
  EXPECT_TRUE(r.from_rbp);
  EXPECT_EQ(r.frame_bytes, 48u);
  EXPECT_EQ(r.Pack(), RuleOf(DecodePrologue(kFramed), {}).Pack());
}

TEST(LeafRule, AnEpilogueHasUndoneAPart) {
  const struct {
    uint64_t offset;
    uint32_t cfa;
    uint16_t rbp_slot;
  } kSteps[] = {{14, 48, 2}, {18, 24, 2}, {19, 16, 2}, {20, 8, 0}};
  for (const auto& step : kSteps) {
    const FrameRule r = RuleIn(kFramed, step.offset);
    EXPECT_EQ(r.state, RuleState::kKnown) << step.offset;
    EXPECT_FALSE(r.from_rbp) << step.offset;
    EXPECT_EQ(r.cfa_offset, step.cfa) << step.offset;
    EXPECT_EQ(r.rbp_slot, step.rbp_slot) << step.offset;
  }
}

TEST(LeafRule, AnEpilogueMayEndWithAJump) {
  // add rsp, 8; pop rbx; jmp [rip+…]
  const FrameRule r = EpilogueRule(LeafBytes("4883c4085bff2512345678"));
  EXPECT_EQ(r.state, RuleState::kKnown);
  EXPECT_EQ(r.cfa_offset, 24u);
  EXPECT_EQ(EpilogueRule(LeafBytes("ff2512345678")).state, RuleState::kPending)
      << "a jump that undoes nothing may be one within the method";
}

TEST(LeafRule, RspComesFromRbpAfterStackalloc) {
  // lea rsp, [rbp-10h]; pop rbx; pop r15; pop rbp; ret
  const FrameRule r = EpilogueRule(LeafBytes("488d65f05b415f5dc3"));
  ASSERT_EQ(r.state, RuleState::kKnown);
  EXPECT_TRUE(r.from_rbp);
  EXPECT_EQ(r.cfa_offset, 16u);
  EXPECT_EQ(r.rbp_slot, 2);
}

// An on-stack replacement of .NET 10, whose first version has a frame of 60h bytes and rbp:
// mov rax, [rbp]; push rax; sub rsp, 10h; mov [rsp+78h], rbx; lea rbp, [rsp+10h]; …;
// add rsp, 78h; pop rbx; pop rbp; ret
const std::vector<std::byte> kReplaced =
    LeafBytes("488b4500504883ec1048895c2478488d6c2410bf030000004883c4785b5dc3cc");

TEST(LeafRule, AReplacementsEpilogueGivesBothFramesBack) {
  const Prologue tier0 = DecodePrologue(LeafBytes("554883ec60488d6c246033c0"));
  const FrameRule body = RuleIn(kReplaced, 19, tier0);
  ASSERT_EQ(body.state, RuleState::kKnown);
  EXPECT_EQ(body.frame_bytes, 0x90u);
  const std::vector<FrameRule> epilogues = EpiloguesIn(kReplaced, 4);
  ASSERT_EQ(epilogues.size(), 1u);
  EXPECT_EQ(epilogues[0].cfa_offset, body.frame_bytes);
  EXPECT_EQ(epilogues[0].rbp_slot, 2);
}

TEST(LeafRule, AReplacementBeginsOnTheFrameOfTheFirstVersion) {
  const Prologue tier0 = DecodePrologue(LeafBytes("554883ec60488d6c246033c0"));
  for (const uint64_t offset : {uint64_t{0}, uint64_t{4}}) {
    const FrameRule r = RuleIn(kReplaced, offset, tier0);
    ASSERT_EQ(r.state, RuleState::kKnown) << offset;
    EXPECT_EQ(r.cfa_offset, 8u + 0x68 + 8) << offset;
  }
  EXPECT_EQ(RuleIn(kReplaced, 5, tier0).cfa_offset, 8u + 8 + 0x68 + 8);
  EXPECT_EQ(RuleIn(kReplaced, 4).state, RuleState::kSnapshot) << "nothing is guessed";
}

TEST(LeafRule, WhatIsNoEpilogueTellsNothing) {
  EXPECT_EQ(EpilogueRule({}).state, RuleState::kPending);
  EXPECT_EQ(EpilogueRule(LeafBytes("4883c4")).state, RuleState::kPending);
  EXPECT_EQ(EpilogueRule(LeafBytes("4881c4ffffff7f5dc3")).state, RuleState::kPending);
  EXPECT_TRUE(EpiloguesIn(LeafBytes("4883c418909090c3"), 4).empty());
}

}  // namespace
}  // namespace clrscope::unwind
