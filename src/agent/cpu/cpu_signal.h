// SPDX-License-Identifier: Apache-2.0
// The signal of the CPU sampler: which one is free, its handler, and the timers of CPU clocks that
// send it to their own threads. What the handler touches is static or never given back, as a thread
// may enter it long after the signal was let go.
//
// Without SA_ONSTACK: a signal's frame takes some 3 KB, which a small alternate stack does not
// have; and the runtime's handler of SIGSEGV goes on on the thread's own stack while what lies on
// the alternate one is still needed. The runtime's own signal comes to the threads' stacks, too.
// Where a Go runtime is loaded SA_ONSTACK is set: its threads run on stacks of a few KB.
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
  static constexpr size_t kMostThreads = 4096, kCells = 1024;

  // Takes a real-time signal that nobody has a handler for, and that as few threads as can be have
  // blocked. One at a time. `period_ns`: of the timers. errors: kRefused, kFailed
  static Status Take(int64_t period_ns);
  // Deletes all timers, gives the signal back to who had it, and waits until nobody is in the
  // handler. What was sampled stays to be read.
  static void GiveBack();
  static bool taken();
  static int number();
  // Whether the handler is still ours: the program may have set one of its own meanwhile.
  static bool is_ours();

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
