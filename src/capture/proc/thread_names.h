// SPDX-License-Identifier: Apache-2.0
// The names of a process's threads, as the system has them: 15 bytes of what Thread.Name was set
// to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "base/string_pool.h"

namespace clrscope::capture {

// Threads that are kept by name; those of a process come and go without end.
inline constexpr size_t kMostThreadNames = 20'000;

// Adds those of threads that live; a name that was known is replaced. Nothing, when the process is
// gone. Source: proc(5), /proc/PID/task/TID/comm.
void ReadThreadNames(pid_t pid, StringPool& strings, std::map<uint64_t, StringId>& names);

}  // namespace clrscope::capture
