// SPDX-License-Identifier: Apache-2.0
// What samplers that look from outside read of a thread, again and again.
// Source: proc(5), /proc/PID/task/TID; Documentation/scheduler/sched-stats.rst
#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/fd.h"
#include "capture/kernel/wall_clock.h"

namespace clrscope::capture {

int64_t ClockNow(clockid_t clock);

// `tasks`: a descriptor of /proc/PID/task. May raise the soft limit of descriptors.
Fd OpenOfThread(int tasks, pid_t thread, const char* file);
// Its text as of now; "": the thread has ended, or it is not allowed.
std::string_view ReadAgain(const Fd& file, std::span<char> room);
// Whether it has as many threads as `known`, zombies among them.
bool HasThreads(int tasks, size_t known);
// Of `schedstat`: "RAN READY TURNS". Returns false for anything else.
bool ParseSchedule(std::string_view text, ScheduleTimes& out);

// Sleeps until `until_ns` (CLOCK_MONOTONIC), or for `most_ns`, whichever is sooner. Returns whether
// that time has come.
bool SleepUntil(int64_t until_ns, int64_t most_ns);

}  // namespace clrscope::capture
