// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/wall/state_rule.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace clrscope::analysis {
namespace {

using profile::ThreadState;

struct BlockingCall {
  std::string_view method;  // begins with
  ThreadState state;
};

// What comes first takes precedence wherever it stands: a lock waits by an event, a socket too.
constexpr std::array<BlockingCall, 14> kBlockingCalls = {{
    {"System.Threading.Monitor.Enter", ThreadState::kLock},
    {"System.Threading.Monitor.TryEnter", ThreadState::kLock},
    {"System.Threading.Monitor.ReliableEnter", ThreadState::kLock},
    {"System.Threading.Lock.", ThreadState::kLock},
    {"System.Threading.ReaderWriterLock", ThreadState::kLock},
    {"System.Threading.SpinLock.", ThreadState::kLock},
    {"System.Threading.Thread.Sleep", ThreadState::kSleep},
    {"System.Net.", ThreadState::kIo},
    {"System.IO.", ThreadState::kIo},
    {"System.ConsolePal.", ThreadState::kIo},
    {"Interop.Sys.", ThreadState::kIo},
    {"System.Threading.", ThreadState::kWait},
    {"System.Diagnostics.Process", ThreadState::kWait},
    {"System.GC.WaitFor", ThreadState::kWait},
}};

// Methods of the framework, or of its runtime, whose native part waits. As they are seen at the end
// of stacks of .NET 8 to 10; before .NET 10 the slow part of `lock` has no method of its own.
constexpr std::array<std::string_view, 12> kWaitingLeaves = {
    "System.Threading.Monitor.Wait",
    "System.Threading.Monitor.ObjWait",
    "System.Threading.Monitor.Enter",
    "System.Threading.Monitor.TryEnter",
    "System.Threading.Monitor.ReliableEnter",
    "System.Threading.Thread.Sleep",
    "System.Threading.Thread.Join",
    "System.Threading.WaitHandle.",
    "System.Threading.LowLevelLifoSemaphore.Wait",
    "System.Threading.LowLevelMonitor.",
    "System.GC.WaitFor",
    "Interop.Sys.",
};

// Of kBlockingCalls; its size where there is none.
size_t BlockingCallOf(std::string_view method) {
  const auto found =
      std::find_if(kBlockingCalls.begin(), kBlockingCalls.end(),
                   [&](const BlockingCall& call) { return method.starts_with(call.method); });
  return static_cast<size_t>(found - kBlockingCalls.begin());
}

}  // namespace

ThreadState WhyBlocked(const profile::Profile& p, uint32_t node) {
  size_t call = kBlockingCalls.size();
  bool framework = false, native = false, runtime = false;
  profile::FrameKind callee = profile::FrameKind::kManaged;  // of the frame before
  for (; node != 0; node = p.nodes[node].parent) {
    const profile::Frame& f = p.frames[p.nodes[node].frame];
    const profile::FrameKind called = std::exchange(callee, f.kind);
    runtime = runtime || f.kind == profile::FrameKind::kRuntime;
    native =
        native || f.kind == profile::FrameKind::kRuntime || f.kind == profile::FrameKind::kNative;
    if ((f.flags & (profile::kUnresolved | profile::kPseudo)) != 0 ||
        f.kind != profile::FrameKind::kManaged)
      continue;
    // What the program calls is the framework's; what calls the program says nothing.
    if ((f.flags & profile::kFramework) == 0) {
      if (call < kBlockingCalls.size()) return kBlockingCalls[call].state;
      if (!runtime || framework) return ThreadState::kBlockedUnknown;
      // Until .NET 9 the helper of `lock` is the runtime's own code, without a method above it.
      // Where the C library stands between, a signal of the runtime's has stopped the method.
      return called == profile::FrameKind::kRuntime ? ThreadState::kLock : ThreadState::kGc;
    }
    framework = true;
    call = std::min(call, BlockingCallOf(p.str(f.method)));
  }
  // Threads of the runtime's own, and of native libraries, have no managed code at all.
  if (!framework) return native ? ThreadState::kIdle : ThreadState::kBlockedUnknown;
  return call < kBlockingCalls.size() && kBlockingCalls[call].state == ThreadState::kLock
             ? ThreadState::kLock
             : ThreadState::kIdle;
}

ThreadState WhereNothingTells(const profile::Profile& p, uint32_t node) {
  const profile::Frame& leaf = p.frames[p.nodes[node].frame];
  const std::string_view method = p.str(leaf.method);
  const bool waits = node != 0 && (leaf.flags & profile::kFramework) != 0 &&
                     std::any_of(kWaitingLeaves.begin(), kWaitingLeaves.end(),
                                 [&](std::string_view start) { return method.starts_with(start); });
  return waits ? WhyBlocked(p, node) : ThreadState::kUnknown;
}

}  // namespace clrscope::analysis
