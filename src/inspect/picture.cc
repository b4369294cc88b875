// SPDX-License-Identifier: Apache-2.0
#include "inspect/picture.h"

#include <algorithm>
#include <array>

namespace clrscope::inspect {
namespace {

// As the reader process names them (src/dac/locks.cc).
constexpr std::array<std::string_view, 8> kLockKinds = {
    "monitor",   "lock",        "reader_writer_lock", "mutex",
    "semaphore", "wait_handle", "static_constructor", "thread"};

}  // namespace

std::string_view Word(ThreadState state) {
  switch (state) {
    case ThreadState::kRunning:
      return "running";
    case ThreadState::kRunnable:
      return "runnable";
    case ThreadState::kLock:
      return "lock";
    case ThreadState::kWait:
      return "wait";
    case ThreadState::kSleep:
      return "sleep";
    case ThreadState::kIo:
      return "io";
    case ThreadState::kIdle:
      return "idle";
    case ThreadState::kBlockedUnknown:
      break;
  }
  return "blocked_unknown";
}

std::string_view Word(LockKind kind) { return kLockKinds[static_cast<size_t>(kind)]; }

LockKind LockKindOf(std::string_view word) {
  const auto found = std::ranges::find(kLockKinds, word);
  return found == kLockKinds.end() ? LockKind::kMonitor
                                   : static_cast<LockKind>(found - kLockKinds.begin());
}

std::string_view Word(FindingKind kind) {
  switch (kind) {
    case FindingKind::kDeadlock:
      return "deadlock";
    case FindingKind::kMaybeDeadlock:
      return "maybe_deadlock";
    case FindingKind::kFinalizersStuck:
      return "finalizers_stuck";
    case FindingKind::kPoolStarved:
      return "pool_starved";
    case FindingKind::kWaitsBehind:
      return "waits_behind";
    case FindingKind::kSpins:
      return "spins";
    case FindingKind::kNoDeadlock:
      break;
  }
  return "no_deadlock";
}

bool Thread::pool_worker() const {
  return std::ranges::any_of(stack, [](const Frame& f) {
    return f.name.find("PortableThreadPool.WorkerThread.WorkerThreadStart") != std::string::npos;
  });
}

const Thread* Picture::ByManagedId(uint32_t id) const {
  const auto found = std::ranges::find_if(
      threads, [id](const Thread& t) { return id != 0 && t.managed_id == id; });
  return found == threads.end() ? nullptr : &*found;
}

const Lock* Picture::LockOf(uint64_t object) const {
  const auto found =
      std::ranges::find_if(locks, [object](const Lock& l) { return l.object == object; });
  return found == locks.end() ? nullptr : &*found;
}

}  // namespace clrscope::inspect
