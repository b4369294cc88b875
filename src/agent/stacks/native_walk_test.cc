// SPDX-License-Identifier: Apache-2.0
// Native frames, by the unwind tables of this very program, against the C library's own unwinder.
#include <execinfo.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <vector>

#include "agent/stacks/native_map.h"
#include "agent/stacks/stack_walk.h"

namespace clrscope::agent {
namespace {

struct Stacks {
  std::vector<uintptr_t> ours, theirs;
};

__attribute__((noinline)) void Look(Stacks& out) {
  const auto map = NativeMap::Make();
  uintptr_t ip, sp, rbp;
  __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n\t"
                   : "=r"(ip), "=r"(sp), "=r"(rbp));
  const StackBounds own =
      StackMap::OfThisProcess().Of(static_cast<uintptr_t>(::pthread_self()), true);
  ASSERT_TRUE(own.Holds(sp));
  for (int i = 0; i < 200; ++i) {
    const NativeModule* m = map->Find(ip - 1);
    if (m == nullptr) break;
    const FrameRule r = RuleOf(*m, ip);
    if (r.state != RuleState::kKnown) break;
    const uintptr_t cfa = (r.from_rbp ? rbp : sp) + r.cfa_offset;
    ASSERT_GT(cfa, sp);
    ASSERT_LE(cfa, own.high);
    if (r.rbp_slot != 0) rbp = *reinterpret_cast<uintptr_t*>(cfa - 8ul * r.rbp_slot);  // NOLINT
    ip = *reinterpret_cast<uintptr_t*>(cfa - 8);                                       // NOLINT
    sp = cfa;
    out.ours.push_back(ip);
  }
  std::array<void*, 200> frames{};
  const int n = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  int first = 1;
#if defined(__SANITIZE_ADDRESS__)
  first = 2;  // the sanitizer stands between
#endif
  for (int i = first; i < n; ++i)
    out.theirs.push_back(reinterpret_cast<uintptr_t>(frames[static_cast<size_t>(i)]));
}

__attribute__((noinline)) void Recurse(int depth, Stacks& out) {
  volatile char room[24];
  room[0] = static_cast<char>(depth);
  if (depth == 0) {
    Look(out);
  } else {
    Recurse(depth - 1, out);
  }
  room[1] = room[0];
}

TEST(NativeWalk, SeesWhatTheUnwinderSees) {
  Stacks stacks;
  Recurse(20, stacks);
  ASSERT_GT(stacks.theirs.size(), 25u);
  ASSERT_GE(stacks.ours.size(), 25u);
  for (size_t i = 0; i < std::min(stacks.ours.size(), stacks.theirs.size()); ++i)
    EXPECT_EQ(stacks.ours[i], stacks.theirs[i]) << i;
  EXPECT_GE(stacks.ours.size() + 1, stacks.theirs.size()) << "to the root";
}

}  // namespace
}  // namespace clrscope::agent
