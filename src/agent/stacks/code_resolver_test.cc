// SPDX-License-Identifier: Apache-2.0
// How to walk past a method's code, by where the runtime says that it begins.
#include "agent/stacks/code_resolver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "agent/testing/deaf_info.h"

namespace clrscope::agent {
namespace {

// push rbp; sub rsp, 20h; lea rbp, [rsp+20h]
constexpr std::string_view kFrame = "\x55\x48\x83\xec\x20\x48\x8d\x6c\x24\x20";
constexpr uint32_t kFrameBytes = 48;
// push rbp; sub rsp, 40h; lea rbp, [rsp+40h]
constexpr std::string_view kLargerFrame = "\x55\x48\x83\xec\x40\x48\x8d\x6c\x24\x40";
// sub rsp, 18h
constexpr std::string_view kFrameless = "\x48\x83\xec\x18";
// An on-stack replacement: mov rax, [rbp]; push rax; sub rsp, 30h; lea rbp, [rsp+30h]
constexpr std::string_view kOsr("\x48\x8b\x45\x00\x50\x48\x83\xec\x30\x48\x8d\x6c\x24\x30", 14);

class ResolverRuntime final : public DeafInfo {
 public:
  std::map<ReJitId, std::vector<uintptr_t>> starts;
  uint32_t rejits_by_others = 0;

  // NOLINTBEGIN(readability-identifier-naming): the runtime's names
  HResult GetNativeCodeStartAddresses(FunctionId, ReJitId rejit, uint32_t capacity, uint32_t* count,
                                      uintptr_t* out) override {
    const std::vector<uintptr_t>& all = starts[rejit];
    *count = static_cast<uint32_t>(all.size());
    std::copy_n(all.begin(), std::min<size_t>(capacity, all.size()), out);
    return kOk;
  }
  HResult GetReJITIDs(FunctionId, uint32_t capacity, uint32_t* count, ReJitId* ids) override {
    *count = static_cast<uint32_t>(starts.size()) + rejits_by_others;
    size_t i = 0;
    for (const auto& [id, unused] : starts)
      if (i < capacity) ids[i++] = id;
    return kOk;
  }
  // NOLINTEND(readability-identifier-naming)
};

class CodeOfAMethod : public ::testing::Test {
 protected:
  static constexpr size_t kApart = 4096;
  CodeOfAMethod() : code_(64 * kApart) { std::memset(code_.data(), 0xcc, code_.size()); }
  // Code that begins at this place.
  uintptr_t Put(size_t place, std::string_view prologue) {
    std::memcpy(code_.data() + place * kApart, prologue.data(), prologue.size());
    return reinterpret_cast<uintptr_t>(code_.data()) + place * kApart;
  }
  unwind::FrameRule RuleAt(uintptr_t ip) const {
    LookupGate gate;
    Heartbeat heartbeat;
    Lookup lookup(&runtime_, gate, heartbeat);
    return CodeResolver(lookup).Resolve(7, ip).rule;
  }
  static bool IsLeftToSnapshots(const unwind::FrameRule& rule) {
    return rule.managed && rule.state == unwind::RuleState::kSnapshot;
  }

  mutable ResolverRuntime runtime_;

 private:
  std::vector<char> code_;
};

TEST_F(CodeOfAMethod, IsThatOfTheNearestStartBefore) {
  const uintptr_t tier0 = Put(3, kFrame), tier1 = Put(9, kFrameless);
  runtime_.starts[0] = {tier1, tier0, 0};  // 0: not compiled yet
  EXPECT_EQ(RuleAt(tier0 + 100).frame_bytes, kFrameBytes);
  EXPECT_EQ(RuleAt(tier1 + 100).frame_bytes, 0u);
  EXPECT_EQ(RuleAt(tier1 + 100).cfa_offset, 32u);
  EXPECT_TRUE(IsLeftToSnapshots(RuleAt(tier0)));
  EXPECT_TRUE(IsLeftToSnapshots(RuleAt(tier0 - 1)));
}

// What was compiled before a hot reload, or lies apart, is not among the starts.
TEST_F(CodeOfAMethod, IsNotFarFromItsStart) {
  const uintptr_t start = Put(0, kFrame);
  runtime_.starts[0] = {start};
  EXPECT_EQ(RuleAt(start + 0x10000).frame_bytes, kFrameBytes);
  EXPECT_TRUE(IsLeftToSnapshots(RuleAt(start + 0x10001)));
}

TEST_F(CodeOfAMethod, MayBeWhatAnotherProfilerHadCompiled) {
  const uintptr_t as_written = Put(3, kFrame), rewritten = Put(4, kFrameless);
  runtime_.starts[0] = {as_written};
  runtime_.starts[12] = {rewritten};
  EXPECT_EQ(RuleAt(rewritten + 50).cfa_offset, 32u);
  EXPECT_EQ(RuleAt(as_written + 50).frame_bytes, kFrameBytes);
  runtime_.rejits_by_others = 7;  // more than there is room for
  EXPECT_TRUE(IsLeftToSnapshots(RuleAt(as_written + 50)));
}

TEST_F(CodeOfAMethod, OfMoreVersionsThanThereIsRoomForIsNotGuessed) {
  std::vector<uintptr_t>& starts = runtime_.starts[0];
  for (size_t i = 0; i < 63; ++i) starts.push_back(Put(i, kFrame));
  EXPECT_EQ(RuleAt(starts[5] + 50).frame_bytes, kFrameBytes);
  starts.push_back(Put(63, kFrame));
  EXPECT_TRUE(IsLeftToSnapshots(RuleAt(starts[5] + 50)));
}

TEST_F(CodeOfAMethod, OfAnOnStackReplacementNeedsOneTier0Frame) {
  const uintptr_t tier0 = Put(1, kFrame), osr = Put(2, kOsr), tier1 = Put(3, kFrameless);
  runtime_.starts[0] = {tier0, osr, tier1};
  const unwind::FrameRule rule = RuleAt(osr + 60);
  EXPECT_EQ(rule.state, unwind::RuleState::kKnown);
  // rax, 30h, the return address that nobody uses, the frame of tier 0, the return address.
  EXPECT_EQ(rule.frame_bytes, 8u + 0x30 + 8 + (kFrameBytes - 8) + 8);
  // An instrumented tier 0 has a frame of another size: it may have been entered from either.
  runtime_.starts[0].push_back(Put(4, kLargerFrame));
  EXPECT_TRUE(IsLeftToSnapshots(RuleAt(osr + 60)));
  runtime_.starts[0] = {osr};
  EXPECT_TRUE(IsLeftToSnapshots(RuleAt(osr + 60)));
}

TEST_F(CodeOfAMethod, IsLeftToSnapshotsWhereTheRuntimeSaysNothing) {
  DeafInfo deaf;
  LookupGate gate;
  Heartbeat heartbeat;
  Lookup lookup(&deaf, gate, heartbeat);
  EXPECT_TRUE(IsLeftToSnapshots(CodeResolver(lookup).Resolve(7, Put(0, kFrame) + 50).rule));
}

}  // namespace
}  // namespace clrscope::agent
