// SPDX-License-Identifier: Apache-2.0
// Every thread of a process at one moment: what it does, what it waits for, and what follows.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clrscope::inspect {

enum class ThreadState : uint8_t {
  kRunning,   // it was given CPU time while it was watched
  kRunnable,  // it could run, but others did
  kLock,      // waits for a lock
  kWait,      // waits for an event, a task, a pulse or another thread
  kSleep,
  kIo,
  kIdle,  // a worker of the thread pool without work
  kBlockedUnknown,
};
std::string_view Word(ThreadState state);

struct Frame {
  std::string name;   // as C# people write it, without parameters
  std::string raw;    // as the runtime writes it
  std::string file;   // of its assembly, without a folder; "" when it is not known
  bool stub = false;  // made by the runtime for a call of native code
};

// What threads can wait for while others hold it.
enum class LockKind : uint8_t {
  kMonitor,
  kLock,              // System.Threading.Lock
  kReaderWriterLock,  // ReaderWriterLockSlim; owners: who writes, or all who read
  kMutex,             // its owner is not known, nor are those of the next two
  kSemaphore,
  kWaitHandle,         // a mutex, a semaphore or an event
  kStaticConstructor,  // of a class; owner: who runs it
  kThread,             // its end; owner: the thread itself
};
std::string_view Word(LockKind kind);
LockKind LockKindOf(std::string_view word);

struct Lock {
  uint64_t object = 0;  // of a static constructor the runtime's address of the class
  std::string type;
  std::vector<uint32_t> owners;  // managed ids
  uint32_t waiters = 0;
  LockKind kind = LockKind::kMonitor;
  bool more_owners = false;  // or one that is not known
};

struct Thread {
  pid_t os_id = 0;
  pid_t inner_id = 0;       // in the process's own pid namespace
  uint32_t managed_id = 0;  // 0: a thread of the runtime's own, or of native code
  std::string name;
  ThreadState state = ThreadState::kBlockedUnknown;
  double cpu_percent = 0;     // of one CPU
  double demand_percent = 0;  // of one CPU, if it never had to wait for one
  std::vector<Frame> stack;   // the leaf first
  bool cut = false;           // there are more frames
  std::string error;          // why there is no stack, or not all of it; ""
  bool finalizer = false;     // it runs finalizers
  uint64_t waits_for = 0;     // the object; 0: none, or not certain
  // Managed ids of other threads: the owners of it that this one waits for.
  std::vector<uint32_t> behind;
  std::vector<uint64_t> holds;

  // What the kernel says of it.
  char kernel_state = '?';
  int system_call = -1;  // its number, -1: none or not known
  bool stood = false;    // it has not run between the copy of its stack and the end of the look
  bool waited = false;   // nor before, since the look began
  bool timed = false;    // it waits for a limited time

  bool managed() const { return managed_id != 0; }
  bool unread() const { return stack.empty() && !error.empty(); }
  bool pool_worker() const;
};

struct Pool {
  uint64_t threads = 0, min = 0, max = 0;
  std::optional<uint64_t> queue_length;
};

enum class FindingKind : uint8_t {
  kDeadlock,
  kMaybeDeadlock,  // it is one if a lock's owner, which is not known, is who it may be
  kFinalizersStuck,
  kPoolStarved,
  kWaitsBehind,
  kSpins,
  kNoDeadlock,
};
std::string_view Word(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::kDeadlock;
  std::string text;               // one sentence
  std::vector<uint32_t> threads;  // managed ids; of a deadlock in the order of waiting
};

struct Picture {
  pid_t pid = 0;
  std::vector<Thread> threads;  // by managed id, those without one last
  std::vector<Lock> locks;      // that somebody holds or waits for
  std::optional<Pool> pool;
  std::optional<uint64_t> finalizers_wait;  // dead objects whose finalizers have not run
  std::vector<Finding> findings;
  std::vector<std::string> notes;  // what could not be seen, one sentence each
  uint64_t stopped_us = 0;         // the longest that any thread was made to stand still
  uint32_t stopped_threads = 0;
  bool managed_stacks = false;  // of one thread at least: it may be empty

  const Thread* ByManagedId(uint32_t id) const;
  const Lock* LockOf(uint64_t object) const;
};

}  // namespace clrscope::inspect
