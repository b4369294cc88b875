// SPDX-License-Identifier: Apache-2.0
// The signal of the CPU sampler, its handler, and the timers of CPU clocks that send it to their
// own threads. What the handler touches is static or never given back, as a thread may enter it
// long after the signal was let go.
//
// It is SIGRTMIN, which is the runtime's: what no timer sent is passed on to the handler that was
// there. On processors with AVX-512 a signal's frame takes 3 KB, and the runtime's handler of
// SIGSEGV, which turns null references into exceptions, leaves less of its alternate stack of 12
// KB. A signal that comes at that moment ends the process. SIGRTMIN is the one that the runtime
// blocks until it is back on the thread's own stack. Source: dotnet/runtime,
// src/coreclr/pal/src/exception/signal.cpp, handle_signal and inject_activation_handler;
// src/thread/thread.cpp, EnsureSignalAlternateStack.
//
// Flags and mask stay those of the runtime, which has no SA_ONSTACK. A Go runtime sets that, as its
// threads run on stacks of a few KB.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "agent/cpu/cpu_ring.h"
#include "base/result.h"

namespace clrscope::agent {

class CpuSignal {
 public:
  static constexpr size_t kMostThreads = 4096;

  // Puts the handler before the one that is there. `period_ns`: of the timers. errors: kRefused
  // (other handlers forbid it), kFailed
  static Status Take(int64_t period_ns);
  // Deletes all timers, gives the signal back to who had it, and waits until nobody is in the
  // handler. What was sampled stays to be read.
  static void GiveBack();
  static bool taken();
  static int number();
  // Whether the handler is still ours: the program may have set one of its own meanwhile.
  static bool is_ours();
  // Whether no handler of SIGSEGV can be interrupted by the signal on an alternate stack.
  static bool spares_fault_handlers();

  enum class Made : uint8_t { kMade, kGone, kBlocked, kNoRoom };
  // A timer for a thread of this process, on its CPU clock, and its number; the one that it has, if
  // it has one. kBlocked: the thread has the signal blocked, and may be waiting for it itself.
  // kNoRoom: no more timers, or signals, may be had.
  static Made Watch(pid_t thread, uint32_t* slot);
  // The same for the calling thread, any of the program's, which has just begun: a few system
  // calls, and no wait. Where another one is at it the agent's thread comes later.
  static void WatchSelf();
  static void Forget(uint32_t slot);
  // How many more timers may be made.
  static void SetRoom(int64_t timers);
  // Looks for the stacks of threads that were sampled and whose bounds are not known.
  static void FindStacks();

  static CpuRing* ring();
};

}  // namespace clrscope::agent
