// SPDX-License-Identifier: Apache-2.0
// A process's memory, seen from outside: counters of the kernel that cost it nothing. smaps_rollup
// would say more, but it walks the page tables under the lock that the process's mmap waits for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "profile/memory_reading.h"

namespace clrscope::capture {

// Appends what /proc/PID/status says now; nothing when the process is gone. Of readings that nobody
// takes out the last few stay.
void ReadMemory(pid_t pid, int64_t now_ns, std::vector<profile::MemoryReading>& readings);

}  // namespace clrscope::capture
