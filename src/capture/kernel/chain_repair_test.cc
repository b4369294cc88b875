// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/chain_repair.h"

#include <gtest/gtest.h>

#include <random>

namespace clrscope::capture {
namespace {

// libc at 0x10000, methods and stubs at 0x20000, an assembly at 0x30000, libcoreclr at 0x40000.
constexpr const char* kMaps =
    "00008000-00009000 rw-p 00000000 00:00 0 \n"
    "00010000-00020000 r-xp 00000000 08:01 12   /usr/lib/libc.so.6\n"
    "00020000-00028000 rwxp 00000000 00:00 0 \n"
    "00028000-00030000 r-xs 00000000 00:01 99   /memfd:doublemapper (deleted)\n"
    "00030000-00038000 r-xp 00001000 08:01 13   /app/my app.dll\n"
    "00040000-00050000 r-xp 00000000 08:01 14   /usr/share/dotnet/libcoreclr.so\n"
    "7ffff000-80000000 r-xp 00000000 00:00 0    [vdso]\n";

constexpr uint64_t kLibc = 0x10010, kLibc2 = 0x10020, kMethod = 0x20108, kCaller = 0x20208,
                   kRoot = 0x30308, kClr = 0x40100, kClr2 = 0x40200, kClr3 = 0x40300,
                   kStub = 0x28010, kSp = 0x7000'0000;

uint64_t At(size_t word) { return kSp + 8 * word; }

class FakeMethods : public MethodStarts {
 public:
  uint64_t StartOf(uint64_t address) const override {
    if (address >= 0x28000 && address < 0x30000) return 0;
    return address & ~uint64_t{0xff};
  }
};

struct ChainCase {
  std::vector<uint64_t> chain;
  std::vector<uint64_t> stack;  // words from kSp on
  uint64_t fp = 0;
  uint64_t lr = 0;
  const MethodStarts* methods = nullptr;

  Repair Run() {
    UserRegs regs;
    regs.known = true;
    regs.fp = fp;
    regs.sp = kSp;
    regs.ip = chain.empty() ? 0 : chain[0];
    regs.lr = lr;
    return ChainRepair().Run(chain, regs, AsBytes(stack.data(), stack.size() * 8),
                             CodeRanges::Parse(kMaps), methods);
  }
};

using Addresses = std::vector<uint64_t>;

TEST(CodeRanges, KnowsWhoseCodeItIs) {
  const CodeRanges code = CodeRanges::Parse(kMaps);
  EXPECT_EQ(code.KindOf(0x8000), CodeKind::kNone);
  EXPECT_EQ(code.KindOf(0xffff), CodeKind::kNone);
  EXPECT_EQ(code.KindOf(0x10000), CodeKind::kNative);
  EXPECT_EQ(code.KindOf(0x1ffff), CodeKind::kNative);
  EXPECT_EQ(code.KindOf(0x20000), CodeKind::kManaged);
  EXPECT_EQ(code.KindOf(0x28000), CodeKind::kManaged);
  EXPECT_EQ(code.KindOf(0x37fff), CodeKind::kManaged);
  EXPECT_EQ(code.KindOf(0x38000), CodeKind::kNone);
  EXPECT_EQ(code.KindOf(0x7ffff000), CodeKind::kNative);
  EXPECT_EQ(code.KindOf(~uint64_t{0}), CodeKind::kNone);
  EXPECT_EQ(code.size(), 4u);  // what adjoins is one
}

TEST(CodeRanges, SkipsWhatIsNoLineOfAMap) {
  const CodeRanges code = CodeRanges::Parse(
      "\n\nzz-10 r-xp 0 0 0\n20-10 r-xp 0 0 0\n100-200\n100-200 r-xp\n300-400 r-xp 0 00:00 0 "
      "/a.so");
  EXPECT_EQ(code.size(), 2u);
  EXPECT_EQ(code.KindOf(0x300), CodeKind::kNative);
  EXPECT_TRUE(CodeRanges::Parse("").empty());
}

TEST(ChainRepair, TheCallerOfALeafWithoutAFrame) {
  ChainCase c{
      {kLibc, kCaller, kRoot}, {1, kLibc2, 2, kMethod, kMethod + 8, 3, At(9), kCaller}, At(6)};
  EXPECT_EQ(c.Run(), Repair::kCallerInserted);
  EXPECT_EQ(c.chain, (Addresses{kLibc, kMethod, kCaller, kRoot}));
}

TEST(ChainRepair, NothingIsInsertedTwice) {
  ChainCase c{{kLibc, kCaller, kRoot}, {1, kCaller, kMethod, 0, At(9), kCaller}, At(4)};
  EXPECT_EQ(c.Run(), Repair::kNone);
  EXPECT_EQ(c.chain, (Addresses{kLibc, kCaller, kRoot}));
}

TEST(ChainRepair, WordsAboveTheFrameAreNotItsOwn) {
  ChainCase c{{kLibc, kCaller, kRoot}, {1, 2, At(9), kCaller, kMethod}, At(2)};
  EXPECT_EQ(c.Run(), Repair::kNone);
}

TEST(ChainRepair, AFrameThatIsNotCopiedTellsNothing) {
  ChainCase c{{kLibc, kCaller, kRoot}, {1, 2, 3}, At(50)};
  EXPECT_EQ(c.Run(), Repair::kNotRepairable);
  EXPECT_EQ(c.chain.size(), 3u);
}

TEST(ChainRepair, AMethodWithItsFrameIsLeftAlone) {
  const FakeMethods methods;
  ChainCase c{{kMethod, kCaller, kRoot}, {kMethod + 8, kRoot, At(9), kCaller}, At(2)};
  EXPECT_EQ(c.Run(), Repair::kNone);
  c.methods = &methods;
  c.chain[0] = kMethod + 4;
  EXPECT_EQ(c.Run(), Repair::kNone);
}

TEST(ChainRepair, AMethodAtItsEntryHasItsCallerOnTheStack) {
  const FakeMethods methods;
  const uint64_t entry = kMethod & ~uint64_t{0xff};
  ChainCase c{{entry, kRoot}, {kCaller, 5, At(9), kRoot}, At(2), 0, &methods};
  EXPECT_EQ(c.Run(), Repair::kCallerInserted);
  EXPECT_EQ(c.chain, (Addresses{entry, kCaller, kRoot}));
}

TEST(ChainRepair, AStubHasNoFrame) {
  const FakeMethods methods;
  ChainCase c{{kStub, kCaller, kRoot}, {7, kMethod, 5, At(9), kCaller}, At(3)};
  EXPECT_EQ(c.Run(), Repair::kNone);  // may be a method
  c.methods = &methods;
  EXPECT_EQ(c.Run(), Repair::kCallerInserted);
  EXPECT_EQ(c.chain, (Addresses{kStub, kMethod, kCaller, kRoot}));
}

TEST(ChainRepair, PointersToStubsAndEntriesAreNoCallers) {
  const FakeMethods methods;
  const uint64_t entry = kMethod & ~uint64_t{0xff};
  ChainCase c{
      {kLibc, kCaller, kRoot}, {kStub, entry, kMethod, 5, At(9), kCaller}, At(4), 0, &methods};
  EXPECT_EQ(c.Run(), Repair::kCallerInserted);
  EXPECT_EQ(c.chain, (Addresses{kLibc, kMethod, kCaller, kRoot}));
}

TEST(ChainRepair, AMethodThatCallsNativeCodeTellsWhereItReturns) {
  // Word 1 is a left-over; the call pushed word 3, when the stack was at word 4.
  ChainCase c{{kLibc, kCaller, kRoot},
              {0, kRoot + 8, 0, kMethod, 7, 7, At(4), kMethod, At(10), 7, At(20), kCaller},
              At(10)};
  EXPECT_EQ(c.Run(), Repair::kCallerInserted);
  EXPECT_EQ(c.chain, (Addresses{kLibc, kMethod, kCaller, kRoot}));
}

TEST(ChainRepair, TheCallerOfAStubThatSavedAllRegisters) {
  // Frame records at words 1 and 4; the stub's block ends with rbp and the return address; the
  // method's own record is word 14. Other managed words in between are left-overs.
  ChainCase c{{kClr, kClr2, kClr3, kCaller, kRoot},
              {0, At(4), kClr2, kMethod + 8, At(14), kClr3, kMethod + 16, 1, 2, 3, At(14), kMethod,
               4, 5, At(20), kCaller},
              At(1)};
  EXPECT_EQ(c.Run(), Repair::kCallerInserted);
  EXPECT_EQ(c.chain, (Addresses{kClr, kClr2, kClr3, kMethod, kCaller, kRoot}));
}

TEST(ChainRepair, NativeFramesWithRecordsAreComplete) {
  ChainCase c{
      {kClr, kClr2, kCaller, kRoot}, {kMethod, At(4), kClr2, kMethod, At(9), kCaller}, At(1)};
  EXPECT_EQ(c.Run(), Repair::kNone);
  // Where the copy ends before the last native frame nothing can be told.
  c.stack.resize(2);
  EXPECT_EQ(c.Run(), Repair::kNotRepairable);
}

TEST(ChainRepair, ManagedFramesAboveABrokenChainAreJoined) {
  // rbp is a plain register of the native code: the chain ends, or goes astray.
  ChainCase c{{kLibc, 0x666},
              {1, kLibc2, kMethod, 9, At(6), 7, At(8), kCaller, At(10), kRoot, At(99), kClr},
              0x1234};
  EXPECT_EQ(c.Run(), Repair::kJoined);
  EXPECT_EQ(c.chain, (Addresses{kLibc, kMethod, kCaller, kRoot, kClr}));
}

TEST(ChainRepair, ABrokenChainGoesOnWithTheMethodThatCalledNativeCode) {
  // Words 1 to 5 are left over of a call before; two links are enough behind a call that is proven.
  ChainCase c{{kLibc},
              {0, kRoot + 8, At(4), kRoot, At(9), kRoot, 0, kMethod, 7, At(8), kMethod, At(12),
               At(14), kCaller, At(99), kRoot},
              0x1234};
  EXPECT_EQ(c.Run(), Repair::kJoined);
  EXPECT_EQ(c.chain, (Addresses{kLibc, kMethod, kCaller, kRoot}));
}

TEST(ChainRepair, FewRecordsMayBeLeftOvers) {
  ChainCase c{{kLibc}, {1, kMethod, At(4), kCaller, At(6), kRoot}, 0x1234};
  EXPECT_EQ(c.Run(), Repair::kNotRepairable);
  EXPECT_EQ(c.chain, (Addresses{kLibc}));
}

TEST(ChainRepair, AThreadOfNativeCodeLacksNothing) {
  ChainCase c{{kLibc, kClr, kClr2}, {1, kClr, At(4), kClr, At(9), kClr2}, At(2)};
  EXPECT_EQ(c.Run(), Repair::kNone);
  EXPECT_EQ(c.chain.size(), 3u);
}

TEST(ChainRepair, ALinkRegisterTellsTheCaller) {
  ChainCase c{{kLibc, kCaller, kRoot}, {1, 2}, At(0), kMethod};
  EXPECT_EQ(c.Run(), Repair::kCallerInserted);
  EXPECT_EQ(c.chain, (Addresses{kLibc, kMethod, kCaller, kRoot}));
  c = {{kLibc, kCaller, kRoot}, {1, 2}, At(0), kLibc2};
  EXPECT_EQ(c.Run(), Repair::kNone);
}

TEST(ChainRepair, AnythingIsSurvived) {
  std::mt19937_64 random(1);
  const auto word = [&]() -> uint64_t {
    switch (random() % 5) {
      case 0:
        return At(random() % 40);
      case 1:
        return kLibc + random() % 64;
      case 2:
        return kMethod + random() % 64;
      case 3:
        return kClr + random() % 64;
      default:
        return random();
    }
  };
  const FakeMethods methods;
  for (int round = 0; round < 50'000; ++round) {
    ChainCase c;
    for (size_t n = random() % 6; n > 0; --n) c.chain.push_back(word());
    for (size_t n = random() % 33; n > 0; --n) c.stack.push_back(word());
    c.fp = word();
    c.lr = word();
    if (random() % 2 == 0) c.methods = &methods;
    const size_t before = c.chain.size();
    c.Run();
    ASSERT_LE(c.chain.size(), before + c.stack.size() + 1);
  }
  std::vector<uint64_t> chain = {kLibc, kCaller};
  const uint64_t stack[] = {1, kMethod};
  UserRegs regs;
  regs.known = true;
  regs.sp = ~uint64_t{0} - 7;
  regs.fp = ~uint64_t{0};
  EXPECT_EQ(ChainRepair().Run(chain, regs, AsBytes(stack, sizeof stack), CodeRanges::Parse(kMaps)),
            Repair::kNone);
}

}  // namespace
}  // namespace clrscope::capture
