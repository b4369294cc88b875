// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/wall/state_rule.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "profile/testing/orders_profile.h"

namespace clrscope::analysis {
namespace {

using profile::ThreadState;

// Frames from the root; those of the program have no '.' of System or Interop before their names.
ThreadState Of(std::initializer_list<std::string_view> frames) {
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
  return WhyBlocked(b.p, node);
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

}  // namespace
}  // namespace clrscope::analysis
