// SPDX-License-Identifier: Apache-2.0
// What the innermost frames of a thread wait for, and where on its stack that is.
#pragma once

#include <cstdint>

#include "dac/stack_walk.h"

namespace clrscope::dac {

enum class WaitKind : uint8_t {
  kNone,  // nothing that may have an owner: an event, a pulse, a task
  kMonitor,
  kLock,              // System.Threading.Lock
  kReaderWriterLock,  // ReaderWriterLockSlim, to read or to write
  kUpgradeableLock,   // the same, to read with the right to write later
  kSemaphore,         // SemaphoreSlim
  kHandle,            // WaitHandle.WaitOne: a Mutex, a Semaphore or an event
  kThread,            // Thread.Join
  kConstructor,       // a class whose static constructor another thread runs
};

// The frames of waiting are those from the leaf up to the method that asked for it. Words of the
// stack from `from` up to `to` are theirs. Of the caller's own frame nothing is looked at: it may
// hold locks of before and after.
struct Wait {
  WaitKind kind = WaitKind::kNone;
  Address from = 0, to = 0;
  Address entered = 0;  // kConstructor: the method that the runtime was about to run; 0: none
};
Wait WaitOf(Runtime& runtime, const Thread& thread, const ThreadStack& stack);

// Whether a frame is the runtime's own code that makes a class ready.
bool IsClassInit(const std::string& method);

}  // namespace clrscope::dac
