// SPDX-License-Identifier: Apache-2.0
#include "inspect/findings.h"

#include <gtest/gtest.h>

#include "inspect/groups.h"
#include "inspect/states.h"

namespace clrscope::inspect {
namespace {

Thread ThreadOf(uint32_t id, const std::string& name, uint64_t waits_for = 0) {
  Thread t;
  t.os_id = static_cast<pid_t>(1000 + id);
  t.managed_id = id;
  t.name = name;
  t.waits_for = waits_for;
  t.kernel_state = 'S';
  return t;
}

Frame FrameOf(const std::string& name, const std::string& file) {
  Frame f;
  f.name = f.raw = name;
  f.file = file;
  return f;
}

Thread Worker(uint32_t id, std::vector<Frame> leaf) {
  Thread t = ThreadOf(id, ".NET TP Worker");
  t.stack = std::move(leaf);
  const std::string core = "System.Private.CoreLib.dll";
  t.stack.push_back(FrameOf("System.Threading.ThreadPoolWorkQueue.Dispatch", core));
  t.stack.push_back(
      FrameOf("System.Threading.PortableThreadPool.WorkerThread.WorkerThreadStart", core));
  t.state = StateOf(t);
  return t;
}

std::vector<Frame> BlockedOnTask() {
  const std::string core = "System.Private.CoreLib.dll";
  return {FrameOf("System.Threading.Monitor.Wait", core),
          FrameOf("System.Threading.Tasks.Task.InternalWaitCore", core),
          FrameOf("Shop.Orders.Load", "shop.dll")};
}

Picture Ring(uint32_t size) {
  Picture p;
  p.managed_stacks = true;
  for (uint32_t i = 0; i < size; ++i) {
    p.threads.push_back(ThreadOf(10 + i, "worker", 0x100 * ((i + 1) % size + 1)));
    p.locks.push_back({0x100 * (i + 1), "Shop.Account", 10 + i, 1});
  }
  return p;
}

TEST(Findings, ARingOfAnySizeIsADeadlock) {
  for (const uint32_t size : {2u, 3u, 7u}) {
    const auto rings = FindDeadlocks(Ring(size));
    ASSERT_EQ(rings.size(), 1u) << size;
    ASSERT_EQ(rings[0].size(), size);
    for (uint32_t i = 0; i < size; ++i) EXPECT_EQ(rings[0][i], 10 + i);
  }
}

TEST(Findings, AChainIsNoRing) {
  Picture p = Ring(4);
  p.threads[3].waits_for = 0;
  p.threads[3].state = ThreadState::kSleep;
  EXPECT_TRUE(FindDeadlocks(p).empty());
  const auto findings = FindReasons(p);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].kind, FindingKind::kWaitsBehind);
  EXPECT_EQ(findings[0].threads, (std::vector<uint32_t>{10, 11, 12}));
  EXPECT_NE(findings[0].text.find("3 threads wait behind thread 13 \"worker\""), std::string::npos);
  EXPECT_EQ(findings[1].kind, FindingKind::kNoDeadlock);
}

TEST(Findings, WhoWaitsForARingIsNotInIt) {
  Picture p = Ring(2);
  p.threads.push_back(ThreadOf(5, "late", 0x100));
  const auto rings = FindDeadlocks(p);
  ASSERT_EQ(rings.size(), 1u);
  EXPECT_EQ(rings[0], (std::vector<uint32_t>{10, 11}));
}

TEST(Findings, TwoRingsAreTwo) {
  Picture p = Ring(2);
  p.threads.push_back(ThreadOf(20, "x", 0x900));
  p.threads.push_back(ThreadOf(21, "y", 0x800));
  p.locks.push_back({0x800, "A", 20, 1});
  p.locks.push_back({0x900, "B", 21, 1});
  EXPECT_EQ(FindDeadlocks(p).size(), 2u);
}

TEST(Findings, AnOwnerThatIsNotKnownEndsTheWay) {
  Picture p = Ring(2);
  p.locks[1].owner = 77;
  EXPECT_TRUE(FindDeadlocks(p).empty());
}

TEST(Findings, ADeadlockNamesThreadsAndLocks) {
  const auto findings = FindReasons(Ring(2));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].text,
            "Deadlock: thread 10 \"worker\" holds Shop.Account 0x100 and waits for Shop.Account "
            "0x200, held by thread 11 \"worker\", which waits for Shop.Account 0x100, held by "
            "thread 10 \"worker\"");
}

TEST(Findings, APoolIsStarvedWhenAllBlockAndWorkIsQueued) {
  Picture p;
  for (uint32_t i = 1; i <= 12; ++i) p.threads.push_back(Worker(i, BlockedOnTask()));
  p.pool = Pool{12, 12, 100, 340};
  auto findings = FindReasons(p);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].text,
            "Thread pool starved: 12 of 12 workers block in Task.Wait / Task.Result (sync over "
            "async), as in Shop.Orders.Load; 340 work items are queued");
  p.pool->queue_length = 0;  // they block, but nobody is kept waiting
  EXPECT_TRUE(FindReasons(p).empty());
  p.pool->queue_length = 340;
  for (int i = 0; i < 3; ++i) p.threads[static_cast<size_t>(i)].state = ThreadState::kRunning;
  EXPECT_TRUE(FindReasons(p).empty());  // a quarter of them works
}

TEST(Findings, AWorkerThatCouldNotBeReadDoesNotBlock) {
  Picture p;
  for (uint32_t i = 1; i <= 3; ++i) p.threads.push_back(Worker(i, BlockedOnTask()));
  p.pool = Pool{4, 4, 100, 340};
  EXPECT_EQ(FindReasons(p).size(), 1u);
  p.threads.push_back(ThreadOf(4, ".NET TP Worker"));
  p.threads[3].error = "it could not be made to stand still";
  EXPECT_TRUE(FindReasons(p).empty());
}

TEST(Findings, WhoseStackCouldNotBeReadIsCountedWhereNoDeadlockIsSeen) {
  Picture p;
  p.managed_stacks = true;
  p.threads = {ThreadOf(1, "a"), ThreadOf(2, "b")};
  EXPECT_EQ(FindReasons(p).at(0).text, "No deadlock seen among Monitor and Lock");
  p.threads[0].error = "it could not be made to stand still";
  EXPECT_EQ(FindReasons(p).at(0).text,
            "No deadlock seen among Monitor and Lock; the stack of one thread could not be read");
  p.threads[1].error = "it could not be made to stand still";
  EXPECT_EQ(FindReasons(p).at(0).text,
            "No deadlock seen among Monitor and Lock; the stacks of 2 threads could not be read");
}

TEST(Findings, ASpinnerThatGetsHalfOfACpuIsSeen) {
  Picture p;
  p.threads.push_back(ThreadOf(14, ""));
  p.threads[0].stack = {FrameOf("Program.Spin", "app.dll")};
  p.threads[0].cpu_percent = 50;
  p.threads[0].demand_percent = 99;
  const auto findings = FindReasons(p);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].text,
            "Thread 14 uses 50 % of a CPU in Program.Spin, and would use all of it");
  p.threads[0].demand_percent = 60;
  EXPECT_TRUE(FindReasons(p).empty());
}

TEST(States, AWorkerWithoutWorkIsIdle) {
  Thread t = Worker(1, {});
  t.stack.erase(t.stack.begin());  // no Dispatch
  EXPECT_EQ(StateOf(t), ThreadState::kIdle);
}

TEST(States, ATaskIsAwaitedByTheFrameworksOwnFramesOnly) {
  Thread t = Worker(1, BlockedOnTask());
  EXPECT_TRUE(BlocksOnTask(t));
  t.stack.insert(t.stack.begin(), FrameOf("Shop.Sleep", "shop.dll"));
  EXPECT_FALSE(BlocksOnTask(t));
}

TEST(Groups, EqualStacksAreOneGroupAndIdleWorkersAreFolded) {
  Picture p;
  for (uint32_t i = 1; i <= 3; ++i) p.threads.push_back(Worker(i, BlockedOnTask()));
  Thread idle = Worker(4, {});
  idle.stack.erase(idle.stack.begin());
  idle.state = StateOf(idle);
  p.threads.push_back(idle);
  GroupedThreads grouped = GroupThreads(p, false);
  ASSERT_EQ(grouped.groups.size(), 1u);
  EXPECT_EQ(grouped.groups[0].threads.size(), 3u);
  EXPECT_EQ(grouped.idle_workers.size(), 1u);
  grouped = GroupThreads(p, true);
  EXPECT_EQ(grouped.groups.size(), 2u);
  EXPECT_TRUE(grouped.idle_workers.empty());
}

TEST(Groups, ThreadsWhoseStacksCouldNotBeReadAreShownOneByOne) {
  Picture p;
  p.threads = {ThreadOf(1, "reader"), ThreadOf(2, "writer")};
  EXPECT_EQ(GroupThreads(p, false).groups.size(), 1u);  // both have no managed frames
  for (Thread& t : p.threads) t.error = "it could not be made to stand still";
  EXPECT_EQ(GroupThreads(p, false).groups.size(), 2u);
}

TEST(Groups, TheAgentsThreadIsTheRuntimesUnlessItIsInTheProgramsCode) {
  EXPECT_TRUE(IsRuntimeThread(ThreadOf(5, "clrscope-events")));
  Thread handler = ThreadOf(5, "clrscope-events");
  handler.stack = {FrameOf("Shop.Events.OnCommand", "shop.dll")};
  EXPECT_FALSE(IsRuntimeThread(handler));
  EXPECT_FALSE(IsRuntimeThread(ThreadOf(6, "worker")));
}

}  // namespace
}  // namespace clrscope::inspect
