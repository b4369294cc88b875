// SPDX-License-Identifier: Apache-2.0
// How much the threads of a process have run, as the system knows it.
// Sources: proc(5), /proc/PID/task/TID/schedstat (ns on a CPU first) and stat (utime, stime);
// clock_getcpuclockid(3).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/families/cpu/cpu_fold.h"

namespace clrscope::capture {

struct ThreadTimes {
  std::vector<analysis::CpuFold::ThreadTime> threads;
  int64_t process_ns = -1;  // of all threads, those that have ended, too; -1: unknown
};

// `parts`: the user's and the system's part of each, too. No thread: the process is gone.
ThreadTimes ReadThreadTimes(pid_t pid, bool parts);

// Of all threads of a process since it began, those that have ended, too; -1: it is gone. The
// system brings it up to date at its ticks, and when a thread leaves a CPU.
int64_t ProcessCpuNs(pid_t pid);
// The same in ticks of the system, and the system's part of it; nothing: it is gone.
struct ProcessTicks {
  int64_t all = 0, system = 0;
};
std::optional<ProcessTicks> ReadProcessTicks(pid_t pid);
// The same in seconds; nothing: it is gone.
std::optional<double> ProcessCpuSeconds(pid_t pid);

}  // namespace clrscope::capture
