// SPDX-License-Identifier: Apache-2.0
#include "dac/waits.h"

#include <algorithm>
#include <string_view>

namespace clrscope::dac {
namespace {

constexpr Address kMaxScan = 64 << 10;

bool After(std::string_view name, std::string_view prefix, std::string_view* rest) {
  if (!name.starts_with(prefix)) return false;
  *rest = name.substr(prefix.size());
  return true;
}

// What a method of the framework waits for, in place of what the frames below it do, so `inner`;
// nothing: it is no method that waits.
struct Asks {
  bool waits = false;
  WaitKind kind = WaitKind::kNone;
};
Asks AskedBy(std::string_view name, WaitKind inner) {
  std::string_view rest;
  if (After(name, "System.Threading.Monitor.", &rest)) {
    const bool enters = rest.starts_with("Enter") || rest.starts_with("ReliableEnter") ||
                        rest.starts_with("TryEnter") || rest.starts_with("<TryEnter");
    if (!enters) return {true, WaitKind::kNone};  // Wait, Pulse
    return {true, inner == WaitKind::kLock ? inner : WaitKind::kMonitor};
  }
  if (name.starts_with("System.Threading.Lock.")) return {true, WaitKind::kLock};
  if (After(name, "System.Threading.ReaderWriterLockSlim.", &rest)) {
    if (rest.find("Upgradeable") != std::string_view::npos)
      return {true, WaitKind::kUpgradeableLock};
    return {true, inner == WaitKind::kUpgradeableLock ? inner : WaitKind::kReaderWriterLock};
  }
  if (After(name, "System.Threading.SemaphoreSlim.", &rest))
    return {true, rest.starts_with("Wait") ? WaitKind::kSemaphore : inner};
  if (After(name, "System.Threading.WaitHandle.", &rest))
    return {true, rest.starts_with("WaitOne") ? WaitKind::kHandle : WaitKind::kNone};
  if (After(name, "System.Threading.Thread.", &rest))
    return {true, rest.starts_with("Join") ? WaitKind::kThread : inner};
  const bool inside = name.starts_with("System.Threading.WaitSubsystem") ||
                      name.starts_with("System.Threading.AutoResetEvent") ||
                      name.starts_with("System.Threading.SynchronizationContext") ||
                      name.starts_with("DynamicClass.IL_STUB");
  return {inside, inner};
}

}  // namespace

bool IsClassInit(const std::string& method) {
  constexpr std::string_view kServices = "System.Runtime.CompilerServices.";
  std::string_view rest;
  if (!After(method, kServices, &rest)) return false;
  return rest.starts_with("InitHelpers.") || rest.starts_with("StaticsHelpers.") ||
         rest.starts_with("RuntimeHelpers.RunClassConstructor") ||
         rest.starts_with("RuntimeHelpers.RunModuleConstructor");
}

Wait WaitOf(Runtime& runtime, const Thread& thread, const ThreadStack& stack) {
  const ThreadRegisters* registers = runtime.remote().RegistersOf(thread.data.os_id);
  if (registers == nullptr || stack.faulted) return {};
  Wait wait;
  wait.from = registers->rsp;
  Address upto = 0;
  // Before .NET 9 the runtime makes a class ready within itself: then a frame of its own, whose
  // method is none or the one that it was about to run, is all that is on the stack.
  bool runtime_only = true, init = false, asked = false;
  for (const StackFrame& frame : stack.frames) {
    const std::string name = frame.method == 0 ? "" : runtime.MethodName(frame.method);
    if (frame.method != 0 && name.empty()) return {};  // which method it is is not known
    if (frame.explicit_frame == 0) upto = frame.sp;
    if (IsClassInit(name)) {
      init = true;
      continue;
    }
    const Asks asks = AskedBy(name, wait.kind);
    if (asks.waits) {
      wait.kind = asks.kind;
      runtime_only = false;
    } else if (frame.explicit_frame == 0 && !name.empty()) {
      asked = true;
      break;
    } else if (frame.explicit_frame != 0 && !name.empty()) {
      wait.entered = frame.method;
    }
  }
  if (!asked || upto <= wait.from) return {};
  if (runtime_only && (init || stack.frames.front().explicit_frame != 0))
    wait.kind = WaitKind::kConstructor;
  wait.to = std::min(upto, wait.from + kMaxScan);
  return wait;
}

}  // namespace clrscope::dac
