// SPDX-License-Identifier: Apache-2.0
#include "inspect/states.h"

#include <algorithm>

namespace clrscope::inspect {
namespace {

constexpr double kRuns =
    5;  // percent of a CPU: less may be what a blocked thread does now and then

bool HasFrame(const Thread& t, std::string_view prefix, size_t within = SIZE_MAX) {
  const size_t n = std::min(within, t.stack.size());
  return std::any_of(t.stack.begin(), t.stack.begin() + static_cast<ptrdiff_t>(n),
                     [prefix](const Frame& f) { return f.name.starts_with(prefix); });
}

// The innermost method of the framework's that says what is waited for.
ThreadState ByLeaf(const Thread& t) {
  for (const Frame& f : t.stack) {
    const std::string_view name = f.name;
    if (name.starts_with("System.Threading.Monitor.")) {
      const std::string_view rest = name.substr(25);
      if (rest.starts_with("Wait") || rest.starts_with("ObjWait")) return ThreadState::kWait;
      if (rest.find("Enter") != std::string_view::npos) return ThreadState::kLock;
    }
    if (name.starts_with("System.Threading.Lock.")) return ThreadState::kLock;
    if (name.starts_with("System.Threading.Thread.Sleep") ||
        name.starts_with("System.Threading.Thread.UninterruptibleSleep"))
      return ThreadState::kSleep;
    if (name.starts_with("System.Threading.WaitHandle.") ||
        name.starts_with("System.Threading.Thread.Join") ||
        name.starts_with("System.Threading.ManualResetEventSlim.") ||
        name.starts_with("System.Threading.SemaphoreSlim.") ||
        name.starts_with("System.Threading.LowLevelLifoSemaphore") ||
        name.starts_with("System.Threading.Tasks.Task.")) {
      // These wait by an event.
      if (HasFrame(t, "System.Threading.Lock.", 8) ||
          HasFrame(t, "System.Threading.ReaderWriterLockSlim.", 8))
        return ThreadState::kLock;
      return ThreadState::kWait;
    }
    if (name.starts_with("System.Net.Sockets.") || name.starts_with("System.IO.") ||
        name.starts_with("Microsoft.Win32.SafeHandles.SafeFileHandle") ||
        name.starts_with("Interop.Sys.Read"))
      return ThreadState::kIo;
    if (!f.stub && !IsFrameworkFile(f.file)) break;
  }
  return ThreadState::kBlockedUnknown;
}

// x64. Source: linux arch/x86/entry/syscalls/syscall_64.tbl
ThreadState BySystemCall(int number) {
  constexpr int kFutex = 202, kNanosleep = 35, kClockNanosleep = 230;
  constexpr int kIo[] = {0,  1,  7,  17, 18,  19,  20,  23,  42, 43,
                         44, 45, 46, 47, 232, 270, 271, 281, 288};
  if (number == kFutex) return ThreadState::kWait;
  if (number == kNanosleep || number == kClockNanosleep) return ThreadState::kSleep;
  if (std::ranges::find(kIo, number) != std::end(kIo)) return ThreadState::kIo;
  return ThreadState::kBlockedUnknown;
}

}  // namespace

bool IsFrameworkFile(std::string_view file) {
  return file.empty() || file.starts_with("System.") || file.starts_with("Microsoft.") ||
         file.starts_with("netstandard") || file.starts_with("mscorlib");
}

ThreadState StateOf(const Thread& t, const Lock* lock) {
  if (lock != nullptr) {
    const bool locks = lock->kind == LockKind::kMonitor || lock->kind == LockKind::kLock ||
                       lock->kind == LockKind::kReaderWriterLock || lock->kind == LockKind::kMutex;
    return locks ? ThreadState::kLock : ThreadState::kWait;
  }
  if (t.kernel_state == 'R' || t.demand_percent >= 50)
    return t.cpu_percent >= kRuns || t.kernel_state != 'R' ? ThreadState::kRunning
                                                           : ThreadState::kRunnable;
  if (t.pool_worker() && !HasFrame(t, "System.Threading.ThreadPoolWorkQueue.Dispatch"))
    return ThreadState::kIdle;
  const ThreadState leaf = ByLeaf(t);
  return leaf != ThreadState::kBlockedUnknown ? leaf : BySystemCall(t.system_call);
}

const Frame* TellingFrame(const Thread& t) {
  for (const Frame& f : t.stack)
    if (!f.stub && !IsFrameworkFile(f.file)) return &f;
  return t.stack.empty() ? nullptr : &t.stack.front();
}

bool BlocksOnTask(const Thread& t) {
  for (const Frame& f : t.stack) {
    if (!f.stub && !IsFrameworkFile(f.file)) return false;
    const std::string_view name = f.name;
    if (!name.starts_with("System.Threading.Tasks.Task") &&
        !name.starts_with("System.Runtime.CompilerServices.TaskAwaiter") &&
        !name.starts_with("System.Runtime.CompilerServices.ValueTaskAwaiter"))
      continue;
    if (name.find("Wait") != std::string_view::npos ||
        name.find("Result") != std::string_view::npos)
      return true;
  }
  return false;
}

}  // namespace clrscope::inspect
