// SPDX-License-Identifier: Apache-2.0
// Native frames, by the unwind tables of this very program, against the compiler's own unwinder.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>
#include <unwind.h>

#include <thread>
#include <vector>

#include "agent/stacks/native_map.h"
#include "agent/stacks/stack_walk.h"

// Functions that follow each other without a gap, as the runtime's in assembler do.
__asm__(R"(
  .pushsection .text
walk_test_returns:
  .cfi_startproc
  ret
  .cfi_endproc
walk_test_behind_return:
  .cfi_startproc
  nop
  ret
  .cfi_endproc
walk_test_calls:
  .cfi_startproc
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  call *%rax
  .cfi_endproc
walk_test_behind_call:
  .cfi_startproc
  ret
  .cfi_endproc
  .popsection
)");
extern "C" {
__attribute__((visibility("hidden"))) extern const char walk_test_behind_return[];
__attribute__((visibility("hidden"))) extern const char walk_test_behind_call[];
}

namespace clrscope::agent {
namespace {

struct Stacks {
  std::vector<uintptr_t> ours, theirs;
  unwind::RuleState end{};
};

_Unwind_Reason_Code AddFrame(_Unwind_Context* context, void* frames) {
  if (const uintptr_t ip = _Unwind_GetIP(context); ip != 0)
    static_cast<std::vector<uintptr_t>*>(frames)->push_back(ip);
  return _URC_NO_REASON;
}

__attribute__((noinline)) void Look(Stacks& out) {
  const auto map = NativeMap::Make();
  uintptr_t ip, sp, rbp;
  __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n\t"
                   : "=r"(ip), "=r"(sp), "=r"(rbp));
  const bool main = static_cast<pid_t>(::gettid()) == ::getpid();
  const StackBounds own =
      StackMap::OfThisProcess().Of(static_cast<uintptr_t>(::pthread_self()), main);
  ASSERT_TRUE(own.Holds(sp));
  for (int i = 0; i < 200; ++i) {
    const unwind::NativeModule* m = map->Find(ip - 1);
    OwnMemory memory;
    unwind::FrameRule r;
    if (m != nullptr)
      r = unwind::RuleOfReturn(*m, ip, memory);
    else if (!NativeMap::RuleOfLoaded(ip, &r))
      break;
    out.end = r.state;
    if (r.state != unwind::RuleState::kKnown) break;
    const uintptr_t cfa = (r.from_rbp ? rbp : sp) + r.cfa_offset;
    ASSERT_GT(cfa, sp);
    ASSERT_LE(cfa, own.high);
    if (r.rbp_slot != 0) rbp = *reinterpret_cast<uintptr_t*>(cfa - 8ul * r.rbp_slot);  // NOLINT
    ip = *reinterpret_cast<uintptr_t*>(cfa - 8);                                       // NOLINT
    sp = cfa;
    out.ours.push_back(ip);
  }
  std::vector<uintptr_t> frames;
  ::_Unwind_Backtrace(AddFrame, &frames);
  out.theirs.assign(frames.begin() + 1, frames.end());
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

TEST(NativeWalk, AThreadsStackHasAnEnd) {
  std::thread([] {
    Stacks stacks;
    Recurse(5, stacks);
    EXPECT_GT(stacks.ours.size(), 6u);
    EXPECT_EQ(stacks.end, unwind::RuleState::kRoot);
  }).join();
}

// Thread::HijackThread puts the start of OnHijackTripThread in place of a return address.
TEST(NativeWalk, AReturnAddressThatTheRuntimeReplacedHasNoRule) {
  const auto replaced = reinterpret_cast<uintptr_t>(walk_test_behind_return);
  unwind::FrameRule rule;
  ASSERT_TRUE(NativeMap::RuleOfLoaded(replaced, &rule));
  EXPECT_EQ(rule.state, unwind::RuleState::kSnapshot) << "not that of the function before";
  ASSERT_TRUE(NativeMap::RuleOfLoaded(replaced + 1, &rule));
  EXPECT_EQ(rule.state, unwind::RuleState::kKnown) << "within the function";
  const auto real = reinterpret_cast<uintptr_t>(walk_test_behind_call);
  ASSERT_TRUE(NativeMap::RuleOfLoaded(real, &rule));
  EXPECT_EQ(rule.state, unwind::RuleState::kKnown) << "a call that does not return";
  EXPECT_EQ(rule.cfa_offset, 16u) << "of the function that calls";
}

}  // namespace
}  // namespace clrscope::agent
