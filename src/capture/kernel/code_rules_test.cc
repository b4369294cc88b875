// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/code_rules.h"

#include <gtest/gtest.h>

#include "capture/testing/fake_memory.h"

namespace clrscope::capture {
namespace {

using unwind::RuleState;

// Methods at 0x20000, a precompiled assembly whose image begins at 0x100000.
const CodeRanges kRuleCode = CodeRanges::Parse(
    "00020000-00030000 rwxp 00000000 00:00 0 \n"
    "00100000-00101000 r--p 00000000 08:01 13   /app/a.dll\n"
    "00101000-00110000 ---p 00000000 00:00 0 \n"
    "00110000-00120000 r-xp 00000000 08:01 13   /app/a.dll\n"
    "00200000-00201000 r-xp 00000000 08:01 14   /lib/whole.so\n");

struct RuleCase {
  FakeMemory* memory = nullptr;
  std::unique_ptr<CodeRules> rules;
  RuleCase() {
    auto owned = std::make_unique<FakeMemory>();
    memory = owned.get();
    rules = std::make_unique<CodeRules>(std::move(owned));
  }
  CodeRules::Answer At(uint64_t ip, bool leaf) { return rules->At(ip, leaf, kRuleCode); }
};

// push rbp; sub rsp, 20h; lea rbp, [rsp+20h]; call; nop
constexpr const char* kCalls = "554883ec20488d6c2420e80000000090";

TEST(CodeRanges, KnowWhereImagesBegin) {
  EXPECT_EQ(kRuleCode.ImageOf(0x110010), 0x100000u);
  EXPECT_EQ(kRuleCode.ImageOf(0x200010), 0x200000u);
  EXPECT_EQ(kRuleCode.ImageOf(0x20010), 0u);
}

TEST(CodeRules, AMethodIsKnownOnceItIsTold) {
  RuleCase c;
  c.memory->Put(0x20100, kCalls);
  EXPECT_EQ(c.At(0x2010f, false).owner, CodeOwner::kUnknown);
  c.rules->OnMethod({0x20100, 16, 7});
  const CodeRules::Answer a = c.At(0x2010f, false);
  EXPECT_EQ(a.owner, CodeOwner::kMethod);
  EXPECT_TRUE(a.returns);
  EXPECT_EQ(a.rule.state, RuleState::kKnown);
  EXPECT_EQ(a.rule.frame_bytes, 48u);
  EXPECT_FALSE(c.At(0x2010b, false).returns) << "no call ends there";
  EXPECT_EQ(c.rules->StartOf(0x2010f), 0x20100u);
}

TEST(CodeRules, WhatIsUnloadedIsForgotten) {
  RuleCase c;
  c.memory->Put(0x20100, kCalls);
  c.rules->OnMethod({0x20100, 16, 7});
  EXPECT_EQ(c.At(0x2010f, false).rule.frame_bytes, 48u);
  c.rules->OnUnload({0x20100});
  EXPECT_EQ(c.At(0x2010f, false).owner, CodeOwner::kUnknown);
  c.memory->Put(0x20100, "4883ec28e800000000909090909090");
  c.rules->OnMethod({0x20100, 15, 8});
  EXPECT_EQ(c.At(0x20109, false).rule.cfa_offset, 48u);
}

// sub rsp, 28h; nops; a call that ends where that of kCalls does; nop
constexpr const char* kCallsToo = "4883ec28909090909090e80000000090";

TEST(CodeRules, CodeThatIsTakenOverWithoutAnUnloadIsForgotten) {
  RuleCase c;
  c.memory->Put(0x20100, kCalls);
  c.rules->OnMethod({0x20100, 16, 7});
  EXPECT_TRUE(c.At(0x2010f, false).rule.from_rbp);
  c.memory->Put(0x20100, kCallsToo);
  EXPECT_TRUE(c.At(0x2010f, false).rule.from_rbp) << "nobody has told that it is other code";
  c.rules->OnMethod({0x20100, 16, 7});
  EXPECT_TRUE(c.At(0x2010f, false).rule.from_rbp) << "told again, as rundowns do";
  c.rules->OnMethod({0x20100, 16, 8});
  EXPECT_FALSE(c.At(0x2010f, false).rule.from_rbp);
  EXPECT_EQ(c.At(0x2010f, false).rule.cfa_offset, 48u);
}

TEST(CodeRules, WhatOverlapsOtherCodeTakesItsPlace) {
  RuleCase c;
  c.rules->OnMethod({0x20100, 0x40, 7});
  c.rules->OnMethod({0x20140, 0x40, 8});
  c.rules->OnMethod({0x20180, 0x40, 9});
  c.rules->OnMethod({0x20120, 0x40, 10});
  EXPECT_EQ(c.rules->StartOf(0x20110), MethodStarts::kUnknown);
  EXPECT_EQ(c.rules->StartOf(0x20130), 0x20120u);
  EXPECT_EQ(c.rules->StartOf(0x20150), 0x20120u);
  EXPECT_EQ(c.rules->StartOf(0x20170), MethodStarts::kUnknown);
  EXPECT_EQ(c.rules->StartOf(0x20190), 0x20180u);
}

TEST(CodeRules, CallsOfEveryKindReturn) {
  RuleCase c;
  const struct {
    const char* code;
    bool returns;
  } kCodes[] = {
      {"909090909090e812345678", true},     // call rel32
      {"90909090909090ffd0", true},         // call rax
      {"909090909041ffd3", true},           // call r11
      {"9090909090ff1512345678", true},     // call [rip+…]
      {"909090909090ff5018", true},         // call [rax+18h]
      {"9090909090ff542418", true},         // call [rsp+18h]
      {"9090909090ff14c8", true},           // call [rax+rcx*8]
      {"9090ff94c812345678", true},         // call [rax+rcx*8+…]
      {"9090909090ff9012345678", true},     // call [rax+…]
      {"909090909090ff2512345678", false},  // jmp [rip+…]
      {"9090909090909090", false},
  };
  uint64_t at = 0x21000;
  for (const auto& code : kCodes) {
    c.memory->Put(at, code.code);
    EXPECT_EQ(c.At(at + std::string_view(code.code).size() / 2, false).returns, code.returns)
        << code.code;
    at += 0x100;
  }
}

// See unwind/leaf_rule_test.cc: a replacement, and two first versions with frames of two sizes, of
// which it runs on that of the former.
constexpr const char* kReplacement =
    "488b4500504883ec1048895c2478488d6c2410bf030000004883c4785b5dc3cc";
constexpr const char* kItsFirst = "554883ec60488d6c246033c0";
constexpr const char* kAnother = "554883ec50488d6c245033c0";

TEST(CodeRules, AReplacementRunsOnItsFirstVersion) {
  RuleCase c;
  // Its epilogue tells which it was.
  c.memory->Put(0x20200, kReplacement);
  c.memory->Put(0x20300, kItsFirst);
  c.memory->Put(0x20400, kAnother);
  c.rules->OnMethod({0x20200, 32, 7});
  EXPECT_EQ(c.At(0x20218, false).rule.frame_bytes, 0x90u) << "by the epilogue alone";
  RuleCase d;
  d.memory->pieces = c.memory->pieces;
  d.rules->OnMethod({0x20400, 12, 7});
  d.rules->OnMethod({0x20300, 12, 7});
  d.rules->OnMethod({0x20200, 32, 7});
  EXPECT_EQ(d.At(0x20218, false).rule.frame_bytes, 0x90u);
}

TEST(CodeRules, WhatTookTheFirstVersionsPlaceIsNone) {
  RuleCase c;
  c.memory->Put(0x20200, kReplacement);
  c.memory->Put(0x20400, kAnother);
  c.rules->OnMethod({0x20400, 12, 7});
  c.rules->OnMethod({0x20400, 12, 8});
  c.rules->OnMethod({0x20200, 32, 7});
  EXPECT_EQ(c.At(0x20218, false).rule.frame_bytes, 0x90u);
}

TEST(CodeRules, AnotherProgramsMethodsAreForgotten) {
  RuleCase c;
  c.memory->Put(0x20100, kCalls);
  c.memory->Put(0x20200, kReplacement);
  c.memory->Put(0x20400, kAnother);
  c.rules->OnMethod({0x20100, 16, 6});
  c.rules->OnMethod({0x20400, 12, 7});
  EXPECT_EQ(c.At(0x2010f, false).owner, CodeOwner::kMethod);
  c.rules->Forget();
  EXPECT_EQ(c.At(0x2010f, false).owner, CodeOwner::kUnknown);
  EXPECT_EQ(c.rules->StartOf(0x2010f), MethodStarts::kUnknown);
  c.rules->OnMethod({0x20200, 32, 7});
  EXPECT_EQ(c.At(0x20218, false).rule.frame_bytes, 0x90u) << "0x20400 is no version of it";
}

// A sample that waited for a method's name is walked once more then.
TEST(CodeRules, CallsThatWereSeenAreKnownWhenTheProgramHasEnded) {
  RuleCase c;
  c.memory->Put(0x20100, kCalls);
  EXPECT_TRUE(c.At(0x2010f, false).returns);
  EXPECT_FALSE(c.At(0x2010b, false).returns);
  c.memory->pieces.clear();
  EXPECT_TRUE(c.At(0x2010f, false).returns);
  c.rules->OnMethod({0x20100, 16, 7});
  const CodeRules::Answer a = c.At(0x2010f, false);
  EXPECT_EQ(a.owner, CodeOwner::kMethod);
  EXPECT_EQ(a.rule.state, RuleState::kSnapshot) << "its first instructions were never read";
  EXPECT_TRUE(a.returns);
  EXPECT_FALSE(c.At(0x2010b, false).returns);
  c.rules->Forget();
  EXPECT_FALSE(c.At(0x2010f, false).returns) << "another program runs";
}

TEST(CodeRules, FunctionsOfAssembliesAreFoundInTheirTables) {
  RuleCase c;
  // PE32+ headers whose exception directory is at 0x800, with two functions.
  std::vector<std::byte> head(1024);
  const auto put = [&](size_t at, auto value) {
    std::memcpy(head.data() + at, &value, sizeof value);
  };
  put(0, uint16_t{0x5a4d});
  put(0x3c, uint32_t{0x80});
  put(0x80, uint32_t{0x4550});
  put(0x94, uint16_t{0xf0});  // bytes of what follows
  put(0x98, uint16_t{0x20b});
  put(0x98 + 108, uint32_t{16});  // directories
  put(0x98 + 112 + 24, uint32_t{0x800});
  put(0x98 + 112 + 28, uint32_t{24});
  c.memory->pieces[0x100000] = head;
  std::vector<std::byte> table(24);
  const uint32_t functions[] = {0x10100, 0x10110, 0, 0x10200, 0x10240, 0};
  std::memcpy(table.data(), functions, sizeof functions);
  c.memory->pieces[0x100800] = table;
  c.memory->Put(0x110100, kCalls);
  EXPECT_EQ(c.At(0x11010f, false).owner, CodeOwner::kMethod);
  EXPECT_EQ(c.At(0x11010f, false).rule.frame_bytes, 48u);
  EXPECT_EQ(c.At(0x110150, true).owner, CodeOwner::kStub) << "between two functions";
}

TEST(CodeRules, DamagedImagesTellNothing) {
  RuleCase c;
  c.memory->pieces[0x100000] = std::vector<std::byte>(1024, std::byte{0xff});
  c.memory->pieces[0x200000] = std::vector<std::byte>(4096, std::byte{0xff});
  EXPECT_EQ(c.At(0x110100, true).owner, CodeOwner::kUnknown);
  EXPECT_EQ(c.At(0x200100, true).owner, CodeOwner::kNative);
  EXPECT_EQ(c.At(0x200100, true).rule.state, RuleState::kSnapshot);
}

TEST(CodeRules, MemoryThatMayNotBeReadIsTold) {
  RuleCase c;
  c.memory->refuses = true;
  c.rules->OnMethod({0x20100, 16, 7});
  EXPECT_EQ(c.At(0x2010f, false).rule.state, RuleState::kSnapshot);
  EXPECT_TRUE(c.rules->blind());
}

}  // namespace
}  // namespace clrscope::capture
