// SPDX-License-Identifier: Apache-2.0
// What the kernel tells of this process's threads, in /proc/self/task.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>

namespace clrscope::agent {

// False: they cannot be listed.
bool ForEachThread(const std::function<void(pid_t thread)>& visit);
// A bit for each signal that it has blocked, from signal 1 on; 0 when it is gone.
uint64_t BlockedSignals(pid_t thread);
// The number that a process or thread was given last, of all that this process sees; -1: unknown.
// Where it has not changed, no thread has begun.
int64_t LastThread();
// Signals that may still be queued for this user, of RLIMIT_SIGPENDING: each timer takes one.
int64_t SignalsLeft();

}  // namespace clrscope::agent
