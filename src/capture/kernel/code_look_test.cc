// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/code_look.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace clrscope::capture {
namespace {

constexpr int64_t kLookMs = 1'000'000;
constexpr uint64_t kNoCode = 0x10;

// A page of code of this process.
class CodePage {
 public:
  CodePage()
      : page_(::mmap(nullptr, kSize, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  CodePage(const CodePage&) = delete;
  CodePage& operator=(const CodePage&) = delete;
  ~CodePage() { ::munmap(page_, kSize); }
  uint64_t address() const { return reinterpret_cast<uint64_t>(page_); }

 private:
  static constexpr size_t kSize = 4096;
  void* page_;
};

struct LookCase {
  CodeLook look{::getpid()};
  bool Knows(const std::vector<uint64_t>& chain, int64_t ms) {
    return look.For(chain, ms * kLookMs).KindOf(chain[0]) != CodeKind::kNone;
  }
};

TEST(CodeLook, ReadsAgainWhatMayBeNewAndLessOftenInVain) {
  LookCase c;
  const auto self = reinterpret_cast<uint64_t>(&::getpid);
  EXPECT_TRUE(c.Knows({self}, 0));
  for (int64_t ms = 1; ms <= 10'000; ++ms) (void)c.Knows({self, kNoCode}, ms);
  EXPECT_GT(c.look.reads(), 5u);
  EXPECT_LT(c.look.reads(), 20u) << "once a second after a while";
}

TEST(CodeLook, AsksAgainLessOftenWhereNothingIsNew) {
  LookCase c;
  for (int64_t ms = 0; ms <= 10'000; ++ms) (void)c.look.Again(ms * kLookMs);
  EXPECT_GT(c.look.reads(), 5u);
  EXPECT_LT(c.look.reads(), 20u);
  const CodePage page;
  EXPECT_NE(c.look.Again(11'000 * kLookMs).KindOf(page.address()), CodeKind::kNone);
}

TEST(CodeLook, WhatRunsWaitsForNoChain) {
  LookCase c;
  const auto self = reinterpret_cast<uint64_t>(&::getpid);
  int64_t ms = 0;
  for (; ms <= 10'000; ++ms) (void)c.Knows({self, kNoCode}, ms);
  const CodePage first, second;
  EXPECT_TRUE(c.Knows({first.address()}, ms));
  const CodePage third;
  EXPECT_TRUE(c.Knows({second.address()}, ms)) << "that look found all";
  EXPECT_FALSE(c.Knows({third.address()}, ms + 1));
  EXPECT_TRUE(c.Knows({third.address()}, ms + 50));
}

TEST(CodeLook, HandsOnTheMapThatItFoundCodeIn) {
  LookCase c;
  (void)c.Knows({reinterpret_cast<uint64_t>(&::getpid)}, 0);
  EXPECT_FALSE(c.look.TakeMaps().empty());
  EXPECT_EQ(c.look.TakeMaps(), "") << "once";
  (void)c.Knows({reinterpret_cast<uint64_t>(&::getpid)}, 5'000);
  EXPECT_EQ(c.look.TakeMaps(), "") << "it was not read again";
  const CodePage page;
  (void)c.Knows({page.address()}, 10'000);
  EXPECT_NE(c.look.TakeMaps().find(fmt::format("{:x}-", page.address())), std::string::npos);
}

TEST(CodeLook, WhatRunsInNoCodeIsNotLookedForAllTheTime) {
  LookCase c;
  for (int64_t ms = 0; ms <= 10'000; ++ms) EXPECT_FALSE(c.Knows({kNoCode}, ms));
  EXPECT_LT(c.look.reads(), 20u);
}

}  // namespace
}  // namespace clrscope::capture
