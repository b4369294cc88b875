// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/wall/state_rule.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "profile/testing/orders_profile.h"

namespace clrscope::analysis {
namespace {

using profile::ThreadState;

using Rule = ThreadState (&)(const profile::Profile&, uint32_t);

// Frames from the root; those of the program have no '.' of System or Interop before their names.
ThreadState Of(std::initializer_list<std::string_view> frames, Rule rule = WhyBlocked) {
  profile::testing::OrdersBuilder b;
  uint32_t node = 0;
  for (const std::string_view name : frames) {
    const bool framework = name.starts_with("System.") || name.starts_with("Interop.");
    const uint32_t frame = b.AddFrame("M", name, framework ? profile::kFramework : 0);
    if (name == "libcoreclr.so") b.p.frames[frame].kind = profile::FrameKind::kRuntime;
    if (name == "libc.so.6") b.p.frames[frame].kind = profile::FrameKind::kNative;
    b.p.nodes.push_back({node, frame});
    node = static_cast<uint32_t>(b.p.nodes.size() - 1);
  }
  return rule(b.p, node);
}

TEST(StateRule, TheFrameworksCallSaysWhatIsWaitedFor) {
  EXPECT_EQ(Of({"Orders.Main", "System.Threading.Monitor.Enter"}), ThreadState::kLock);
  EXPECT_EQ(
      Of({"Orders.Main", "System.Threading.Lock.EnterScope", "System.Threading.Lock.TryEnterSlow",
          "System.Threading.WaitHandle.WaitOneNoCheck"}),
      ThreadState::kLock);
  EXPECT_EQ(
      Of({"Orders.Main", "System.Threading.Thread.Sleep", "System.Threading.Thread.SleepInternal"}),
      ThreadState::kSleep);
  EXPECT_EQ(Of({"Orders.Main", "System.Threading.Tasks.Task.Wait",
                "System.Threading.ManualResetEventSlim.Wait", "System.Threading.Monitor.Wait"}),
            ThreadState::kWait);
  EXPECT_EQ(
      Of({"Orders.Main", "System.Net.Sockets.NetworkStream.Read", "System.Threading.Monitor.Wait"}),
      ThreadState::kIo);
  EXPECT_EQ(Of({"Orders.Main", "System.IO.RandomAccess.ReadAtOffset", "Interop.Sys.Read"}),
            ThreadState::kIo);
}

TEST(StateRule, WhatCallsTheProgramSaysNothing) {
  EXPECT_EQ(Of({"System.Threading.Thread.StartCallback", "Orders.Native"}),
            ThreadState::kBlockedUnknown);
  EXPECT_EQ(Of({"Orders.Main", "System.Collections.Generic.List<T>.Sort"}),
            ThreadState::kBlockedUnknown);
  EXPECT_EQ(Of({}), ThreadState::kBlockedUnknown);
}

TEST(StateRule, WhatTheRuntimeStopsByASignalWaitsForTheCollector) {
  EXPECT_EQ(Of({"Orders.Main", "libc.so.6", "libcoreclr.so", "libc.so.6"}), ThreadState::kGc);
  EXPECT_EQ(Of({"Orders.Main", "libcoreclr.so", "libc.so.6"}), ThreadState::kLock)
      << "the helper of lock";
  EXPECT_EQ(Of({"Orders.Main", "libc.so.6"}), ThreadState::kBlockedUnknown);
}

TEST(StateRule, AThreadWithoutTheProgramIsIdleUnlessItWaitsForALock) {
  EXPECT_EQ(Of({"System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart",
                "System.Threading.LowLevelLifoSemaphore.WaitForSignal"}),
            ThreadState::kIdle);
  EXPECT_EQ(Of({"System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart",
                "System.Threading.Monitor.Enter"}),
            ThreadState::kLock);
}

TEST(StateRule, WhereNothingTellsTheLeafMustBeAWait) {
  constexpr auto kOf = [](std::initializer_list<std::string_view> frames) {
    return Of(frames, WhereNothingTells);
  };
  EXPECT_EQ(kOf({"Orders.Main", "System.Threading.Thread.Sleep"}), ThreadState::kSleep);
  EXPECT_EQ(kOf({"Orders.Main", "System.Threading.Lock.TryEnterSlow",
                 "System.Threading.WaitHandle.WaitOneNoCheck"}),
            ThreadState::kLock);
  EXPECT_EQ(kOf({"System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart",
                 "System.Threading.LowLevelLifoSemaphore.WaitNative"}),
            ThreadState::kIdle);
  EXPECT_EQ(kOf({"Orders.Main", "System.Net.Sockets.Socket.Receive", "Interop.Sys.Read"}),
            ThreadState::kIo);
  // It may run there.
  EXPECT_EQ(kOf({"System.Threading.Thread.StartCallback", "Orders.Burn"}), ThreadState::kUnknown);
  EXPECT_EQ(kOf({"Orders.Main", "System.IO.StreamReader.ReadLine"}), ThreadState::kUnknown);
  EXPECT_EQ(kOf({"System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart",
                 "System.Threading.ThreadPoolWorkQueue.Dispatch"}),
            ThreadState::kUnknown);
  EXPECT_EQ(kOf({"Orders.Main", "System.Threading.Tasks.Task.Execute"}), ThreadState::kUnknown);
  EXPECT_EQ(kOf({}), ThreadState::kUnknown);
}

}  // namespace
}  // namespace clrscope::analysis
