// SPDX-License-Identifier: Apache-2.0
// Stacks: a thread's own, a fiber's, one that nobody can read.
#include "agent/stacks/stack_bounds.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <thread>

#include "agent/samples/shard_pool.h"
#include "agent/stacks/stack_walk.h"

namespace clrscope::agent {
namespace {

uintptr_t Here() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

TEST(StackMap, AThreadsStackEndsAtItsDescriptor) {
  const StackMap map(
      "55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0                          [heap]\n"
      "7f0000000000-7f0000001000 ---p 00000000 00:00 0 \n"
      "7f0000001000-7f0000801000 rw-p 00000000 00:00 0 \n"
      "7f0000801000-7f0000900000 rw-p 00000000 00:00 0 \n"
      "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n");
  EXPECT_EQ(map.Of(0x7f0000800700, false), (StackBounds{0x7f0000001000, 0x7f0000800700}));
  EXPECT_EQ(map.Of(0x7f0000800700, true), (StackBounds{0x7ffc00000000, 0x7ffc00021000}));
  EXPECT_EQ(map.Of(0x7f0000850000, false), StackBounds{}) << "no guard below it";
  EXPECT_EQ(map.Of(0x55d0c0000100, false), StackBounds{}) << "a stack in the heap";
  EXPECT_EQ(map.Of(0x7f0000000100, false), StackBounds{}) << "it cannot be read";
  EXPECT_EQ(StackMap("nonsense\n7f-\n").Of(0x7f, false), StackBounds{});
}

TEST(StackMap, ThisThreadIsOnItsStack) {
  EXPECT_TRUE(StackMap::OfThisProcess()
                  .Of(ShardPool::ThisThread(), static_cast<pid_t>(::gettid()) == ::getpid())
                  .Holds(Here()));
  std::thread([] {
    const StackBounds own = StackMap::OfThisProcess().Of(ShardPool::ThisThread(), false);
    EXPECT_TRUE(own.Holds(Here()));
    EXPECT_FALSE(own.Holds(own.high));
  }).join();
}

// A stack of one frame size, all addresses alike, that goes on up to `end` and beyond.
struct MadeUpStack {
  static constexpr uintptr_t kIp = 0x4242420;
  CodeTable code;
  uint32_t frames[kMaxDepth];
  std::byte window[kStackWindow];

  MadeUpStack() {
    unwind::FrameRule rule;
    rule.state = unwind::RuleState::kKnown;
    rule.managed = true;
    rule.cfa_offset = 32;
    code.SetRule(code.FindOrAdd(kIp)->frame.load(), rule, 1);
  }
  WalkEnd Walk(uintptr_t sp, const StackBounds& own, size_t* count) {
    return WalkStack(code, nullptr, {kIp, sp, 0}, own, {frames, window}, count);
  }
};

// Pages of return addresses with nothing above them, as a fiber's stack may lie.
class Island {
 public:
  explicit Island(size_t pages) : size_(pages * 4096) {
    base_ = static_cast<std::byte*>(
        ::mmap(nullptr, size_ + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(base_ + 4096, size_, PROT_READ | PROT_WRITE);
    for (auto* word = reinterpret_cast<uintptr_t*>(low());
         word < reinterpret_cast<uintptr_t*>(high()); ++word)
      *word = MadeUpStack::kIp;
  }
  ~Island() { ::munmap(base_, size_ + 8192); }
  uintptr_t low() const { return reinterpret_cast<uintptr_t>(base_ + 4096); }
  uintptr_t high() const { return low() + size_; }

 private:
  size_t size_;
  std::byte* base_;
};

TEST(WalkStack, AStackThatIsNotTheThreadsOwnIsReadOnlyWhereThereIsSomething) {
  MadeUpStack stack;
  const Island fiber(2);
  size_t count = 0;
  const StackBounds elsewhere{0x1000, 0x2000};
  EXPECT_EQ(stack.Walk(fiber.low(), elsewhere, &count), WalkEnd::kOutside)
      << "read to its end, and no further";
  EXPECT_EQ(stack.Walk(fiber.high() - 40, {}, &count), WalkEnd::kOutside);
  EXPECT_EQ(stack.Walk(fiber.high() - 1, {}, &count), WalkEnd::kOutside);
  EXPECT_EQ(stack.Walk(fiber.high() + 64, {}, &count), WalkEnd::kOutside) << "nothing is there";
  EXPECT_EQ(stack.Walk(~uintptr_t{0} - 64, {}, &count), WalkEnd::kOutside);
  EXPECT_EQ(stack.Walk(0, {}, &count), WalkEnd::kOutside);
}

TEST(WalkStack, TheOwnStackIsReadToItsEnd) {
  MadeUpStack stack;
  const Island own(4);
  size_t count = 0;
  for (uintptr_t sp = own.high() - 4096; sp < own.high(); sp += 8)
    EXPECT_EQ(stack.Walk(sp, {own.low(), own.high()}, &count), WalkEnd::kOutside);
  *reinterpret_cast<uintptr_t*>(own.high() - 8) = 0;  // its first caller
  EXPECT_EQ(stack.Walk(own.high() - 96, {own.low(), own.high()}, &count), WalkEnd::kDone);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(stack.Walk(own.high() - 96, {}, &count), WalkEnd::kDone) << "through the kernel, too";
  EXPECT_EQ(count, 3u);
}

#ifdef __GLIBC__  // musl has no fibers
// The real walk of native frames, on a fiber whose stack has guards on both sides.
struct FiberRun {
  ucontext_t main, fiber;
  WalkEnd end{};
  size_t count = 0;
  bool on_own = true;
};
FiberRun* g_run = nullptr;

void OnFiber() {
  static CodeTable code;
  static const auto native = NativeMap::Make();
  static uint32_t frames[kMaxDepth];
  static std::byte window[kStackWindow];
  const StackBounds own = StackMap::OfThisProcess().Of(
      ShardPool::ThisThread(), static_cast<pid_t>(::gettid()) == ::getpid());
  Registers at;
  __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n\t"
                   : "=r"(at.ip), "=r"(at.sp), "=r"(at.rbp));
  g_run->on_own = own.Holds(at.sp);
  g_run->end = WalkStack(code, native.get(), at, own, {frames, window}, &g_run->count);
  ::swapcontext(&g_run->fiber, &g_run->main);
}

TEST(WalkStack, AFiberIsWalkedToItsRoot) {
  std::thread([] {
    const Island stack(16);
    FiberRun run;
    g_run = &run;
    ::getcontext(&run.fiber);
    run.fiber.uc_stack.ss_sp = reinterpret_cast<void*>(stack.low());  // NOLINT
    run.fiber.uc_stack.ss_size = stack.high() - stack.low();
    run.fiber.uc_link = &run.main;
    ::makecontext(&run.fiber, OnFiber, 0);
    ::swapcontext(&run.main, &run.fiber);
    EXPECT_FALSE(run.on_own);
    // To its root, or to a frame of the C library's that no table describes; never further.
    EXPECT_TRUE(run.end == WalkEnd::kDone || run.end == WalkEnd::kOutside ||
                run.end == WalkEnd::kStub)
        << static_cast<int>(run.end);
  }).join();
}
#endif

}  // namespace
}  // namespace clrscope::agent
