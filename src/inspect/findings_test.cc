// SPDX-License-Identifier: Apache-2.0
#include "inspect/findings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "inspect/groups.h"
#include "inspect/states.h"
#include "inspect/wait_graph.h"

namespace clrscope::inspect {
namespace {

constexpr char kNone[] = "No deadlock seen among locks, static constructors and threads' ends";

Thread ThreadOf(uint32_t id, const std::string& name) {
  Thread t;
  t.os_id = static_cast<pid_t>(1000 + id);
  t.managed_id = id;
  t.name = name;
  t.kernel_state = 'S';
  return t;
}

// A thread has waited for a lock, behind all of its owners, since the look began.
void Waits(Picture& p, uint32_t id, uint64_t object) {
  const auto t = std::ranges::find(p.threads, id, &Thread::managed_id);
  t->waits_for = object;
  t->behind = p.LockOf(object)->owners;
  t->waited = true;
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
    p.threads.push_back(ThreadOf(10 + i, "worker"));
    p.locks.push_back({0x100 * (i + 1), "Shop.Account", {10 + i}, 1});
  }
  for (uint32_t i = 0; i < size; ++i) Waits(p, 10 + i, 0x100 * ((i + 1) % size + 1));
  return p;
}

std::vector<std::vector<uint32_t>> Rings(const Picture& p) { return WaitGraph(p).Rings(); }

TEST(Findings, ARingOfAnySizeIsADeadlock) {
  for (const uint32_t size : {2u, 3u, 7u}) {
    const auto rings = Rings(Ring(size));
    ASSERT_EQ(rings.size(), 1u) << size;
    ASSERT_EQ(rings[0].size(), size);
    for (uint32_t i = 0; i < size; ++i) EXPECT_EQ(rings[0][i], 10 + i);
  }
}

TEST(Findings, AChainIsNoRing) {
  Picture p = Ring(4);
  p.threads[3].waits_for = 0;
  p.threads[3].behind.clear();
  p.threads[3].state = ThreadState::kSleep;
  EXPECT_TRUE(Rings(p).empty());
  const auto findings = FindReasons(p);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].kind, FindingKind::kWaitsBehind);
  EXPECT_EQ(findings[0].threads, (std::vector<uint32_t>{10, 11, 12}));
  EXPECT_NE(findings[0].text.find("3 threads wait behind thread 13 \"worker\""), std::string::npos);
  EXPECT_EQ(findings[1].kind, FindingKind::kNoDeadlock);
}

TEST(Findings, WhoWaitsForARingIsNotInIt) {
  Picture p = Ring(2);
  p.threads.push_back(ThreadOf(5, "late"));
  Waits(p, 5, 0x100);
  const auto rings = Rings(p);
  ASSERT_EQ(rings.size(), 1u);
  EXPECT_EQ(rings[0], (std::vector<uint32_t>{10, 11}));
  const auto findings = FindReasons(p);
  ASSERT_EQ(findings.size(), 1u) << "it is told with the ring";
  EXPECT_TRUE(findings[0].text.ends_with("; 1 more thread waits behind them")) << findings[0].text;
}

TEST(Findings, TwoRingsAreTwo) {
  Picture p = Ring(2);
  p.threads.push_back(ThreadOf(20, "x"));
  p.threads.push_back(ThreadOf(21, "y"));
  p.locks.push_back({0x800, "A", {20}, 1});
  p.locks.push_back({0x900, "B", {21}, 1});
  Waits(p, 20, 0x900);
  Waits(p, 21, 0x800);
  EXPECT_EQ(Rings(p).size(), 2u);
}

TEST(Findings, AnOwnerThatIsNotKnownEndsTheWay) {
  Picture p = Ring(2);
  p.locks[1].owners = {77};
  Waits(p, 10, 0x200);
  EXPECT_TRUE(Rings(p).empty());
}

// A writer waits for all who read.
TEST(Findings, OneOfSeveralReadersInARingIsEnough) {
  Picture p = Ring(2);
  p.threads.push_back(ThreadOf(7, "reader"));
  p.locks[0] = {0x100, "ReaderWriterLockSlim", {7, 10}, 1, LockKind::kReaderWriterLock};
  Waits(p, 11, 0x100);
  auto rings = Rings(p);
  ASSERT_EQ(rings.size(), 1u);
  EXPECT_EQ(rings[0], (std::vector<uint32_t>{10, 11}));
  // Of who reads, only one matters to a thread that wants the right to write later.
  p.threads[1].behind = {7};
  EXPECT_TRUE(Rings(p).empty());
  // Two rings have the writer in common.
  Waits(p, 11, 0x100);
  Waits(p, 7, 0x200);
  EXPECT_EQ(Rings(p).size(), 2u);
}

TEST(Findings, ARingInWhichOneGivesUpAfterATimeMayEnd) {
  Picture p = Ring(2);
  p.threads[1].timed = true;
  const auto findings = FindReasons(p);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, FindingKind::kMaybeDeadlock);
  EXPECT_TRUE(findings[0].text.ends_with("; thread 11 \"worker\" waits for a limited time"));
}

// Not all who read are known.
TEST(Findings, ARingIsToldOnce) {
  Picture p = Ring(2);
  p.locks[0].more_owners = true;
  const auto findings = FindReasons(p);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, FindingKind::kDeadlock);
}

TEST(Findings, AStaticConstructorIsRunByAThread) {
  Picture p = Ring(2);
  p.locks[1] = {0x200, "Shop.Config", {11}, 0, LockKind::kStaticConstructor};
  p.threads.push_back(ThreadOf(12, "bystander"));
  Waits(p, 12, 0x200);
  const auto findings = FindReasons(p);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].text,
            "Deadlock: thread 10 \"worker\" holds Shop.Account 0x100 and waits for the static "
            "constructor of Shop.Config, run by thread 11 \"worker\", which waits for Shop.Account "
            "0x100, held by thread 10 \"worker\"; 1 more thread waits behind them");
  EXPECT_EQ(StateOf(p.threads[0], &p.locks[1]), ThreadState::kWait);
  EXPECT_EQ(StateOf(p.threads[1], &p.locks[0]), ThreadState::kLock);
}

TEST(Findings, AThreadThatIsJoinedHoldsUpWhoJoins) {
  Picture p = Ring(2);
  p.locks[0] = {0x100, "System.Threading.Thread", {10}, 0, LockKind::kThread};
  const auto findings = FindReasons(p);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].text,
            "Deadlock: thread 10 \"worker\" waits for Shop.Account 0x200, held by thread 11 "
            "\"worker\", which waits for the end of thread 10 \"worker\"");
}

TEST(Findings, WhoWaitsForTheEndOfAThreadThatWorksIsNoFinding) {
  Picture p;
  p.managed_stacks = true;
  p.threads = {ThreadOf(1, "main"), ThreadOf(4, "worker")};
  p.locks.push_back({0x100, "System.Threading.Thread", {4}, 0, LockKind::kThread});
  Waits(p, 1, 0x100);
  const auto findings = FindReasons(p);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, FindingKind::kNoDeadlock);
}

Lock Ownerless(uint64_t object, LockKind kind) {
  return {object, "M", {}, 1, kind, /*more_owners=*/true};
}

TEST(Findings, WhereAnOwnerIsNotKnownItMayBeADeadlock) {
  Picture p = Ring(2);
  p.locks[0] = Ownerless(0x100, LockKind::kSemaphore);
  Waits(p, 11, 0x100);
  auto findings = FindReasons(p);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, FindingKind::kMaybeDeadlock);
  EXPECT_EQ(
      findings[0].text,
      "Maybe a deadlock: thread 11 \"worker\" holds Shop.Account 0x200 and waits for M 0x100, "
      "whose owner is not known; who could end that may be thread 10 \"worker\", which waits "
      "behind it");
  EXPECT_EQ(findings[0].threads, (std::vector<uint32_t>{11, 10}));
  EXPECT_TRUE(std::ranges::none_of(
      findings, [](const Finding& f) { return f.kind == FindingKind::kNoDeadlock; }));
  // It has only just begun to wait.
  p.threads[1].waited = false;
  findings = FindReasons(p);
  EXPECT_TRUE(std::ranges::none_of(
      findings, [](const Finding& f) { return f.kind == FindingKind::kMaybeDeadlock; }));
}

// Work that a static constructor waits for may need the class.
TEST(Findings, WhoWaitsForATaskMayWaitForWhoWaitsBehindIt) {
  Picture p;
  p.managed_stacks = true;
  p.threads = {ThreadOf(1, "main"), Worker(4, {})};
  p.threads[0].stack = BlockedOnTask();
  p.threads[0].state = ThreadState::kWait;
  p.threads[0].waited = true;
  p.locks.push_back({0x100, "Shop.Config", {1}, 0, LockKind::kStaticConstructor});
  p.threads[0].holds = {0x100};
  EXPECT_EQ(FindReasons(p).at(0).kind, FindingKind::kNoDeadlock);
  Waits(p, 4, 0x100);
  const auto findings = FindReasons(p);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].text,
            "Maybe a deadlock: thread 1 \"main\" runs the static constructor of Shop.Config and "
            "waits for a task in Shop.Orders.Load; who could end that may be thread 4 \".NET TP "
            "Worker\", which waits behind it");
  // A lock that is held over a call.
  p.locks[0].kind = LockKind::kMonitor;
  EXPECT_EQ(FindReasons(p).at(0).kind, FindingKind::kWaitsBehind);
}

TEST(Findings, TwoMutexesMayBeARingAndTwoSignalsAreNotCalledOne) {
  Picture p = Ring(2);
  for (uint32_t i = 0; i < 2; ++i) {
    p.locks[i] = Ownerless(p.locks[i].object, LockKind::kMutex);
    p.threads[i].stack = {FrameOf("System.Threading.WaitHandle.WaitOne", ""),
                          FrameOf("Shop.Take", "shop.dll")};
  }
  for (const uint32_t id : {10u, 11u}) Waits(p, id, id == 10 ? 0x200 : 0x100);
  EXPECT_EQ(FindReasons(p).at(0).text,
            "Maybe a deadlock: thread 10 \"worker\" waits for M 0x200, thread 11 \"worker\" waits "
            "for M 0x100; who holds these is not known");
  Waits(p, 11, 0x200);  // both wait for the same: neither has it
  EXPECT_EQ(FindReasons(p).at(0).kind, FindingKind::kNoDeadlock);
  Waits(p, 11, 0x100);
  for (Lock& l : p.locks) l = Ownerless(l.object, LockKind::kSemaphore);
  EXPECT_EQ(FindReasons(p).at(0).text,
            std::string(kNone) +
                "; threads 10, 11 wait for what has no owner that is known (semaphores, mutexes, "
                "events), and may be in one");
  // The framework's own workers wait for work that way.
  for (Thread& t : p.threads) t.stack[1] = FrameOf("System.Queue.Take", "System.Queue.dll");
  EXPECT_EQ(FindReasons(p).at(0).text, kNone);
}

TEST(Findings, AFinalizerThatStandsStillIsToldWithWhatWaitsForIt) {
  Picture p;
  p.managed_stacks = true;
  Thread t = ThreadOf(2, ".NET Finalizer");
  t.finalizer = true;
  EXPECT_TRUE(IsRuntimeThread(t)) << "it has nothing to do";
  t.stack = {FrameOf("Interop.Sys.Write", "System.Private.CoreLib.dll"),
             FrameOf("System.IO.FileStream.Finalize", "System.Private.CoreLib.dll"),
             FrameOf("System.GC.RunFinalizers", "System.Private.CoreLib.dll")};
  t.state = ThreadState::kIo;
  EXPECT_FALSE(IsRuntimeThread(t));
  p.threads = {t};
  p.finalizers_wait = 5002;
  EXPECT_EQ(FindReasons(p).at(0).kind, FindingKind::kNoDeadlock) << "it may go on";
  p.threads[0].waited = true;
  EXPECT_EQ(FindReasons(p).at(0).text,
            "Finalizers do not run: thread 2 \".NET Finalizer\" waits for input or output in "
            "System.IO.FileStream.Finalize; 5002 objects wait for their finalizers");
  p.threads[0].stack.insert(p.threads[0].stack.begin(), FrameOf("Shop.Close", "shop.dll"));
  p.finalizers_wait = 1;
  EXPECT_TRUE(FindReasons(p).at(0).text.ends_with(
      "input or output in Shop.Close; 1 object waits for its finalizer"));
  for (const auto waiting : {std::optional<uint64_t>(0), std::optional<uint64_t>()}) {
    p.finalizers_wait = waiting;
    EXPECT_EQ(FindReasons(p).at(0).kind, FindingKind::kNoDeadlock);
  }
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
  EXPECT_EQ(FindReasons(p).at(0).text, kNone);
  p.threads[0].error = "it could not be made to stand still";
  EXPECT_EQ(FindReasons(p).at(0).text,
            std::string(kNone) + "; the stack of one thread could not be read");
  p.threads[1].error = "it could not be made to stand still";
  EXPECT_EQ(FindReasons(p).at(0).text,
            std::string(kNone) + "; the stacks of 2 threads could not be read");
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
