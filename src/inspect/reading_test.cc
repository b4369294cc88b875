// SPDX-License-Identifier: Apache-2.0
// What comes from the kernel and from the reader process.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "inspect/kernel_threads.h"
#include "inspect/parts.h"
#include "inspect/reader_rights.h"

namespace clrscope::inspect {
namespace {

KernelThread ThatCanRun(uint64_t cpu_ns, uint64_t delay_ns, uint64_t blocked) {
  KernelThread t;
  t.state = 'R';
  t.cpu_ns = cpu_ns;
  t.delay_ns = delay_ns;
  t.blocked = blocked;
  return t;
}

TEST(SystemCall, IsReadFromTheKernelsLine) {
  const SystemCall inside =
      ParseSystemCall("202 0x7f 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd10 0x7f6ad0\n");
  EXPECT_EQ(inside.kind, SystemCall::Kind::kInside);
  EXPECT_EQ(inside.number, 202);
  EXPECT_EQ(inside.sp, 0x7ffd10u);
  EXPECT_EQ(inside.pc, 0x7f6ad0u);
  EXPECT_FALSE(inside.timed);
  EXPECT_TRUE(
      ParseSystemCall("202 0x7f 0x189 0x0 0x7f10 0x0 0xffffffff 0x7ffd10 0x7f6ad0\n").timed);
  EXPECT_FALSE(ParseSystemCall("0 0x7f 0x189 0x0 0x7f10 0x0 0xffffffff 0x7ffd10 0x7f6ad0\n").timed);
  EXPECT_EQ(ParseSystemCall("running\n").kind, SystemCall::Kind::kRunning);
  const SystemCall outside = ParseSystemCall("-1 0x7ffd10 0x7f6ad0\n");
  EXPECT_EQ(outside.kind, SystemCall::Kind::kOutside);
  EXPECT_EQ(outside.sp, 0x7ffd10u);
  EXPECT_EQ(ParseSystemCall("").kind, SystemCall::Kind::kUnknown);
  EXPECT_EQ(ParseSystemCall("202 0x7f").kind, SystemCall::Kind::kUnknown);
}

// A busy machine may let a thread run for a moment in 200 ms, and not count yet how long it has
// waited for that.
TEST(DemandPercent, AThreadThatNeverBlockedWouldUseAWholeCpu) {
  const KernelThread before = ThatCanRun(5'000'000, 0, 7);
  KernelThread now = ThatCanRun(25'000'000, 30'000'000, 7);
  EXPECT_DOUBLE_EQ(DemandPercent(before, now, 200e6), 100);
  EXPECT_FALSE(HadNoCpu(before, now));
  now.cpu_ns = before.cpu_ns;
  EXPECT_DOUBLE_EQ(DemandPercent(before, now, 200e6), 0) << "what it does is not known";
  EXPECT_TRUE(HadNoCpu(before, now));
}

TEST(DemandPercent, IsTheTimeOnACpuOfTheTimeInWhichItDidNotWaitForOne) {
  KernelThread before = ThatCanRun(5'000'000, 0, 7), now = ThatCanRun(25'000'000, 100'000'000, 8);
  EXPECT_DOUBLE_EQ(DemandPercent(before, now, 200e6), 20);  // 20 ms ran, 80 ms blocked
  now.state = before.state = 'S';
  now.blocked = before.blocked = std::nullopt;
  EXPECT_DOUBLE_EQ(DemandPercent(before, now, 200e6), 20);
  now.cpu_ns = before.cpu_ns;
  EXPECT_DOUBLE_EQ(DemandPercent(before, now, 200e6), 0);
  EXPECT_FALSE(HadNoCpu(before, now)) << "it blocked";
}

// It sleeps, and each time it wakes a container at its quota lets it wait.
TEST(DemandPercent, AThreadThatWaitsLongEachTimeItWakesDoesNotSpin) {
  const KernelThread before = ThatCanRun(5'000'000, 0, 7);
  EXPECT_LT(DemandPercent(before, ThatCanRun(7'500'000, 180'000'000, 9), 200e6), 15);
  EXPECT_DOUBLE_EQ(DemandPercent(before, ThatCanRun(6'000'000, 199'000'000, 9), 200e6), 0)
      << "1 ms of 200 says nothing";
}

TEST(KernelThreads, OfWhoCanRunItIsKnownHowOftenItBlocked) {
  std::atomic<pid_t> spinner = 0, sleeper = 0;
  std::jthread spins([&](const std::stop_token& stop) {
    spinner = ::gettid();
    while (!stop.stop_requested()) {
    }
  });
  std::promise<void> wake;
  std::jthread sleeps([&] {
    sleeper = ::gettid();
    wake.get_future().wait();
  });
  while (spinner == 0 || sleeper == 0) std::this_thread::yield();
  const KernelThreads threads(::getpid());
  // It may block once more for a page of its stack.
  std::map<pid_t, KernelThread> first, second;
  do {
    first = threads.Read(100);
    second = threads.Read(100);
  } while (!first[spinner].blocked || first[spinner].blocked != second[spinner].blocked ||
           second[sleeper].state != 'S');
  wake.set_value();
  EXPECT_EQ(second[spinner].state, 'R');
  EXPECT_FALSE(second[sleeper].blocked.has_value());
}

TEST(Parts, NamesAreThoseOfCSharp) {
  EXPECT_EQ(ReadableMethod("Shop.Cart+<>c__DisplayClass8_0.<Total>b__0(System.Int32)"),
            "Shop.Cart.Total.λ0");
  EXPECT_EQ(
      ReadableMethod("System.Collections.Generic.List`1[[System.__Canon, "
                     "System.Private.CoreLib]].Add(System.__Canon)"),
      ReadableMethod("System.Collections.Generic.List`1[System.__Canon].Add(System.__Canon)"));
  EXPECT_EQ(ReadableType("System.Collections.Generic.Dictionary`2[[System.String, "
                         "System.Private.CoreLib],[System.Int32, System.Private.CoreLib]]"),
            "System.Collections.Generic.Dictionary<string, int>");
  EXPECT_EQ(ReadableType("System.Int32[]"), "int[]");
}

TEST(Parts, WhatMakesNoSenseIsLeftOut) {
  Picture p;
  Thread t;
  t.os_id = t.inner_id = 7;
  t.name = "kernel's";
  p.threads.push_back(t);
  for (const char* text :
       {"", "{", "[]", "{\"thread\":3}", "{\"thread\":{\"os_id\":8,\"managed_id\":1}}",
        "{\"thread\":{\"os_id\":\"7\",\"frames\":{}}}", "{\"lock\":{\"object\":0,\"owners\":[1]}}",
        "{\"wait\":{\"os_id\":9,\"waits_for\":3}}", "{\"pool\":[]}"})
    TakePart(text, p);
  EXPECT_EQ(p.threads[0].managed_id, 0u);
  EXPECT_EQ(p.threads[0].name, "kernel's");
  EXPECT_TRUE(p.locks.empty());
  EXPECT_FALSE(p.pool);
  TakePart(
      "{\"thread\":{\"os_id\":7,\"managed_id\":4,\"name\":\"long name of a worker\","
      "\"frames\":[{\"method\":\"A.B()\"},{\"method\":7},{\"method\":\"\"}],\"waits_for\":256}}",
      p);
  EXPECT_EQ(p.threads[0].managed_id, 4u);
  EXPECT_EQ(p.threads[0].name, "long name of a worker");
  ASSERT_EQ(p.threads[0].stack.size(), 2u);
  EXPECT_EQ(p.threads[0].stack[0].name, "A.B");
  EXPECT_EQ(p.threads[0].stack[1].name, "[unknown method]");
  TakePart("{\"lock\":{\"object\":256,\"type\":\"X\",\"owners\":[7],\"owners_are_os_ids\":1}}", p);
  ASSERT_EQ(p.locks.size(), 1u);
  EXPECT_EQ(p.locks[0].owners, (std::vector<uint32_t>{4}));
}

TEST(Parts, WhatAThreadWaitsForMayComeLater) {
  Picture p;
  p.threads.resize(1);
  p.threads[0].inner_id = 7;
  TakePart(R"({"thread":{"os_id":7,"managed_id":4,"finalizer":1,"frames":[]}})", p);
  EXPECT_EQ(p.threads[0].waits_for, 0u);
  EXPECT_TRUE(p.threads[0].finalizer);
  TakePart(R"({"wait":{"os_id":7,"waits_for":256}})", p);
  EXPECT_EQ(p.threads[0].waits_for, 256u);
  TakePart(R"({"lock":{"object":256,"kind":"static_constructor","type":"A","owners":[5]}})", p);
  EXPECT_EQ(p.locks.at(0).kind, LockKind::kStaticConstructor);
  TakePart(R"({"lock":{"object":8,"kind":"semaphore","type":"S","owners":[],"more_owners":1}})", p);
  EXPECT_TRUE(p.locks.at(1).more_owners);
  TakePart(R"({"lock":{"object":16,"type":"nobody's","owners":[]}})", p);
  EXPECT_EQ(p.locks.size(), 2u);
  TakePart(R"({"finalizers":{"waiting":12}})", p);
  EXPECT_EQ(p.finalizers_wait, 12u);
}

TEST(Parts, AThreadWithoutAStackHasItsNumberItsNameAndItsLocks) {
  Picture p;
  p.threads.resize(2);
  p.threads[0].inner_id = 7;
  p.threads[1].inner_id = 8;
  TakePart(R"({"thread":{"os_id":7,"managed_id":4,"name":"busy","error":"it runs","frames":[]}})",
           p);
  TakePart(R"({"lock":{"object":256,"type":"X","owners":[7],"owners_are_os_ids":1}})", p);
  EXPECT_EQ(p.threads[0].managed_id, 4u);
  EXPECT_EQ(p.threads[0].name, "busy");
  EXPECT_EQ(p.threads[0].error, "it runs");
  ASSERT_EQ(p.locks.size(), 1u);
  EXPECT_EQ(p.locks[0].owners, (std::vector<uint32_t>{4}));
  EXPECT_FALSE(p.managed_stacks);
  TakePart(R"({"thread":{"os_id":8,"managed_id":5,"frames":[]}})", p);
  EXPECT_TRUE(p.managed_stacks);  // it has no managed frames
}

TEST(Rights, TheLibraryNeverHasMoreThanTheTarget) {
  const Capabilities same{3, 3}, fewer{3, 1};
  EXPECT_FALSE(RightsFor(1000, 1000, 1000, same, false)->change_user);
  EXPECT_EQ(RightsFor(1000, 1001, 1001, same, false).error().code, ErrorCode::kPermission);
  const auto other = RightsFor(0, 1001, 1002, same, false);
  EXPECT_TRUE(other->change_user);
  EXPECT_EQ(other->uid, 1001u);
  EXPECT_EQ(other->gid, 1002u);
  EXPECT_FALSE(RightsFor(0, 0, 0, same, false)->change_user);
  // Root of a container.
  EXPECT_EQ(RightsFor(0, 0, 0, same, true)->uid, kNobody);
  EXPECT_EQ(RightsFor(0, 0, 0, fewer, false)->uid, kNobody);
}

}  // namespace
}  // namespace clrscope::inspect
