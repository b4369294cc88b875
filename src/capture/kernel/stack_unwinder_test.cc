// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/stack_unwinder.h"

#include <execinfo.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "capture/kernel/perf_open.h"
#include "capture/proc/maps_line.h"
#include "capture/testing/fake_memory.h"

namespace clrscope::capture {
namespace {

const CodeRanges kWalkCode = CodeRanges::Parse("00020000-00030000 rwxp 00000000 00:00 0 \n");
constexpr uint64_t kTop = 0x7000'0000;
// A method with a frame pointer: push rbp; sub rsp, 20h; lea rbp, [rsp+20h]; call; add; pop; ret.
constexpr const char* kWithFrame = "554883ec20488d6c2420e8000000004883c4205dc3";
// One without: sub rsp, 28h; call; add rsp, 28h; ret.
constexpr const char* kFrameless = "4883ec28e8000000004883c428c3";
constexpr uint64_t kLeafMethod = 0x20100, kMiddle = 0x20200, kOuter = 0x20300, kOutermost = 0x20400;
constexpr uint64_t kInMiddle = kMiddle + 9, kInOuter = kOuter + 15, kInOutermost = kOutermost + 15;

using WalkAddresses = std::vector<uint64_t>;

struct WalkCase {
  FakeMemory* code = nullptr;
  FakeMemory rest;
  std::unique_ptr<CodeRules> rules;
  std::unique_ptr<StackUnwinder> unwinder;
  WalkCase() {
    auto owned = std::make_unique<FakeMemory>();
    code = owned.get();
    rules = std::make_unique<CodeRules>(std::move(owned));
    unwinder = std::make_unique<StackUnwinder>(rules.get(), &rest);
    for (const uint64_t at : {kLeafMethod, kOuter, kOutermost}) {
      code->Put(at, kWithFrame);
      rules->OnMethod({at, 21, at});
    }
    code->Put(kMiddle, kFrameless);
    rules->OnMethod({kMiddle, 14, kMiddle});
  }
  Repair Run(WalkAddresses& chain, uint64_t fp, const std::vector<uint64_t>& stack) {
    UserRegs regs;
    regs.known = true;
    regs.sp = kTop;
    regs.fp = fp;
    regs.ip = chain[0];
    return unwinder->Run(chain, regs, AsBytes(stack.data(), stack.size() * 8), kWalkCode);
  }
};
uint64_t Slot(size_t word) { return kTop + 8 * word; }

// The leaf's frame, the frameless method's, and two with records, of which the last is the end.
std::vector<uint64_t> WholeStack() {
  return {1, 2, 3, 4, Slot(16), kInMiddle,     // the leaf: rbp at 4
          5, 6, 7, 8, 9,        kInOuter,      // the frameless one
          1, 2, 3, 4, Slot(22), kInOutermost,  // rbp at 16
          1, 2, 3, 4, 0,        0};            // rbp at 22
}
const WalkAddresses kWhole = {kLeafMethod + 10, kInMiddle, kInOuter, kInOutermost};

TEST(StackUnwinder, TheCallerOfAMethodWithoutAFrameIsFound) {
  WalkCase c;
  WalkAddresses chain = {kLeafMethod + 10, kInMiddle, kInOutermost};
  (void)c.Run(chain, Slot(4), WholeStack());
  EXPECT_EQ(chain, kWhole);
  EXPECT_FALSE(c.unwinder->met_unknown());
}

TEST(StackUnwinder, AMethodThatWasNotToldYetIsTriedAgain) {
  WalkCase c;
  c.rules->OnUnload({kMiddle});
  WalkAddresses chain = {kLeafMethod + 10, kInMiddle, kInOutermost};
  EXPECT_EQ(c.Run(chain, Slot(4), WholeStack()), Repair::kNotRepairable);
  EXPECT_TRUE(c.unwinder->met_unknown());
  c.rules->OnMethod({kMiddle, 14, kMiddle});
  chain = {kLeafMethod + 10, kInMiddle, kInOutermost};
  (void)c.Run(chain, Slot(4), WholeStack());
  EXPECT_EQ(chain, kWhole);
}

TEST(StackUnwinder, WhatRunsIsTriedAgainWhereNoCodeWasMappedYet) {
  WalkCase c;
  WalkAddresses chain = {0x50000, kInOutermost};
  (void)c.Run(chain, Slot(4), WholeStack());
  EXPECT_TRUE(c.unwinder->met_unmapped());
  EXPECT_TRUE(c.unwinder->met_unknown());
  EXPECT_FALSE(c.unwinder->met_unknown_caller()) << "waited for no longer than others";
}

// Of a thread that waits rbp is not known: the frame of native code that keeps its own there is the
// first that looks like one.
TEST(StackUnwinder, AFrameThatIsPassedOverForLackOfCodeIsTriedAgain) {
  WalkCase c;
  constexpr uint64_t kOdd = 0x20500;  // nothing tells its frame
  c.code->Put(kOdd, "e8000000000f0b");
  c.rules->OnMethod({kOdd, 7, kOdd});
  const auto climb = [&c](const CodeRanges& code) {
    const std::vector<uint64_t> stack = WholeStack();
    WalkAddresses chain = {kOdd + 5};
    CallFrame at{kOdd + 5, kTop, 0, false};
    (void)c.unwinder->Climb(chain, at, {kTop, AsBytes(stack.data(), stack.size() * 8)}, code, 100);
    return chain;
  };
  // The code that its caller lies in was mapped after the map of memory was read.
  const WalkAddresses whole = {kOdd + 5, kInMiddle, kInOuter, kInOutermost};
  EXPECT_NE(climb(CodeRanges::Parse("00020300-00030000 rwxp 00000000 00:00 0 \n")), whole);
  EXPECT_TRUE(c.unwinder->met_unknown());
  EXPECT_EQ(climb(kWalkCode), whole);
  EXPECT_FALSE(c.unwinder->met_unknown());
}

TEST(StackUnwinder, OnlyWhatLiesBelowTheFrameThatIsTakenIsPassedOver) {
  constexpr uint64_t kUnmapped = 0x50000, kOdd = 0x20500;
  const auto met_unknown = [](const std::vector<uint64_t>& stack) {
    WalkCase c;
    c.code->Put(kOdd, "e8000000000f0b");
    c.rules->OnMethod({kOdd, 7, kOdd});
    WalkAddresses chain = {kOdd + 5};
    CallFrame at{kOdd + 5, kTop, 0, false};
    (void)c.unwinder->Climb(chain, at, {kTop, AsBytes(stack.data(), stack.size() * 8)}, kWalkCode,
                            2);
    EXPECT_EQ(chain, (WalkAddresses{kOdd + 5, kInOutermost}));
    return c.unwinder->met_unknown();
  };
  EXPECT_TRUE(met_unknown({1, 2, Slot(4), kUnmapped, Slot(6), kUnmapped, Slot(8), kInOutermost,
                           Slot(10), kInOutermost, 0, 0}));
  EXPECT_FALSE(met_unknown({1, 2, Slot(4), kInOutermost, Slot(6), kInOutermost, Slot(8), kUnmapped,
                            Slot(10), kUnmapped, 0, 0}));
  // Nothing on the stack itself is code.
  EXPECT_FALSE(met_unknown({1, 2, Slot(4), Slot(5), Slot(6), Slot(7), Slot(8), kInOutermost,
                            Slot(10), kInOutermost, 0, 0}));
}

TEST(StackUnwinder, AStubHasNoFrame) {
  WalkCase c;
  std::vector<uint64_t> stack = {kInOuter, 1, 2, 3, 4, Slot(11), kInOutermost, 1, 2, 3, 4, 0, 0};
  WalkAddresses chain = {0x28000, kInOutermost};
  (void)c.Run(chain, Slot(5), stack);
  EXPECT_EQ(chain, (WalkAddresses{0x28000, kInOuter, kInOutermost}));
}

TEST(StackUnwinder, TheRestIsReadWhereItIsStillTheSame) {
  WalkCase c;
  const std::vector<uint64_t> whole = WholeStack();
  const std::vector<uint64_t> copy(whole.begin(), whole.begin() + 8);
  c.rest.PutWords(Slot(8), {whole.begin() + 8, whole.end()});
  WalkAddresses chain = {kLeafMethod + 10, kInMiddle, kInOutermost};
  (void)c.Run(chain, Slot(4), copy);
  EXPECT_EQ(chain, kWhole);
}

TEST(StackUnwinder, WhatHasChangedIsTakenFromTheChain) {
  WalkCase c;
  const std::vector<uint64_t> whole = WholeStack();
  const std::vector<uint64_t> copy(whole.begin(), whole.begin() + 8);
  c.rest.PutWords(Slot(8), std::vector<uint64_t>(16, kInOuter));
  WalkAddresses chain = {kLeafMethod + 10, kInMiddle, kInOutermost};
  EXPECT_EQ(c.Run(chain, Slot(4), copy), Repair::kNotRepairable) << "a caller is missing";
  EXPECT_EQ(chain, (WalkAddresses{kLeafMethod + 10, kInMiddle, kInOutermost}));
}

TEST(StackUnwinder, WithoutRightsItIsTheChainThatIsRepaired) {
  WalkCase c;
  c.code->refuses = true;
  WalkAddresses chain = {kLeafMethod + 10, kInMiddle, kInOutermost};
  (void)c.Run(chain, Slot(4), WholeStack());  // notices it
  EXPECT_TRUE(c.rules->blind());
  chain = {kLeafMethod + 10, kInMiddle, kInOutermost};
  EXPECT_EQ(c.Run(chain, Slot(4), WholeStack()), Repair::kNone);
}

TEST(StackUnwinder, ASignalsHandlerLeadsToWhatItInterrupted) {
  WalkCase c;
  const CodeRanges code = CodeRanges::Parse(
      "00020000-00030000 rwxp 00000000 00:00 0 \n"
      "00200000-00201000 r-xp 00000000 08:01 1 /libc.so\n");
  c.code->Put(0x200100, "48c7c00f0000000f05");
  // The handler is a method here. It returns to the restorer, above which the registers lie.
  std::vector<uint64_t> stack = {1, 2, 3, 4, 0, 0x200100};
  std::vector<uint64_t> context(32);
  context[15] = Slot(60);     // rbp
  context[20] = Slot(50);     // rsp
  context[21] = kMiddle + 4;  // rip: within the method without a frame
  stack.insert(stack.end(), context.begin(), context.end());
  stack.resize(80);
  stack[55] = kInOutermost;
  UserRegs regs;
  regs.known = true;
  regs.sp = kTop;
  regs.fp = Slot(4);
  WalkAddresses chain = {kLeafMethod + 10};
  (void)c.unwinder->Run(chain, regs, AsBytes(stack.data(), stack.size() * 8), code);
  EXPECT_EQ(chain, (WalkAddresses{kLeafMethod + 10, 0x200100, kMiddle + 4, kInOutermost}));
}

// A program may have its stack pointer anywhere; what lies above it begins at 0 there.
TEST(StackUnwinder, AStackPointerAtTheEndOfAddressesLeadsNowhere) {
  WalkCase c;
  WalkAddresses chain = {0x28000};
  CallFrame at{0x28000, ~uint64_t{7}, 0, true};
  EXPECT_EQ(c.unwinder->Climb(chain, at, {at.sp, {}}, kWalkCode, 100), StackUnwinder::End::kBroken);
  EXPECT_EQ(chain.size(), 1u);
}

// Any stack of words: it ends, within the frames that were asked for.
TEST(StackUnwinder, NonsenseEnds) {
  WalkCase c;
  uint64_t random = 1;
  const auto next = [&random] {
    return random = random * 6364136223846793005u + 1442695040888963407u;
  };
  const uint64_t words[] = {kInMiddle, kInOuter, kInOutermost, 0, ~uint64_t{0}};
  for (int round = 0; round < 2'000; ++round) {
    std::vector<uint64_t> stack(64);
    for (uint64_t& word : stack) {
      const uint64_t r = next() >> 33;
      word = r % 3 == 0 ? words[r / 3 % 5] : r % 3 == 1 ? Slot(r / 3 % 80) : r;
    }
    WalkAddresses chain = {kLeafMethod + (next() >> 40) % 21, kInMiddle, kInOuter};
    (void)c.Run(chain, Slot((next() >> 40) % 80), stack);
    EXPECT_LE(chain.size(), 1024u);
    EXPECT_FALSE(chain.empty());
  }
}

// This test's own stack, against the C library's unwinder.
__attribute__((noinline)) void LookAtOwn(WalkAddresses& ours, WalkAddresses& theirs) {
  uint64_t ip, sp, fp;
  __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
                   : "=r"(ip), "=r"(sp), "=r"(fp));
  std::vector<std::byte> copy(16 << 10);
  RemoteMemory memory(::getpid());
  copy.resize(memory.Read(sp, copy));
  CodeRules rules(std::make_unique<RemoteMemory>(::getpid()));
  StackUnwinder unwinder(&rules, &memory);
  const CodeRanges code = CodeRanges::Parse(MapsOf(::getpid()));
  ours.assign(1, ip);
  CallFrame at{ip, sp, fp, true};
  EXPECT_EQ(unwinder.Climb(ours, at, {sp, copy}, code, 200), StackUnwinder::End::kRoot);
  std::array<void*, 200> frames{};
  const int n = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 0; i < n; ++i)
    theirs.push_back(reinterpret_cast<uint64_t>(frames[static_cast<size_t>(i)]));
}
__attribute__((noinline)) void Deeper(int depth, WalkAddresses& ours, WalkAddresses& theirs) {
  volatile char room[24];
  room[0] = static_cast<char>(depth);
  depth == 0 ? LookAtOwn(ours, theirs) : Deeper(depth - 1, ours, theirs);
  room[1] = room[0];
}

#if !defined(__SANITIZE_ADDRESS__)  // whose functions stand between
TEST(StackUnwinder, NativeCodeIsWalkedToTheRoot) {
  WalkAddresses ours, theirs;
  Deeper(20, ours, theirs);
  ASSERT_GT(theirs.size(), 25u);
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 1; i < ours.size(); ++i) EXPECT_EQ(ours[i], theirs[i]) << i;
}
#endif

}  // namespace
}  // namespace clrscope::capture
