// SPDX-License-Identifier: Apache-2.0
// What the system says of a process's life, asked now.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "base/result.h"
#include "ipc/processes/proc_text.h"

namespace clrscope::ipc {

// errors: kNotFound (no such process), kPermission, kIo, kCorrupt
Result<ProcStat> ReadProcStat(pid_t pid);

// Where the kernel put the environment on a program's stack; 0 where that may not be known, of the
// kernel's own threads, and in the middle of execve(2). Source: proc(5)
uint64_t EnvironmentStart(pid_t pid);

// How many seconds ago a process began that did at `start_ticks`.
double UptimeOf(uint64_t start_ticks);

// Stopped by a signal or a debugger.
bool IsStopped(pid_t pid);

// Gone (a zombie too), or gone before `patience` is over: a process that is killed closes its
// sockets a little before it ends.
bool IsEnding(pid_t pid, std::chrono::milliseconds patience);

}  // namespace clrscope::ipc
