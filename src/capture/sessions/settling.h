// SPDX-License-Identifier: Apache-2.0
// When sessions of EventSources may be opened in a process: requests, tasks, counters.
//
// The thread of the runtime that opens such a session runs managed code under EventListenersLock.
// The class constructors of EventSources take that lock, too, and a program runs most of them while
// it starts: at its first use of an ArrayPool, of the thread pool, of a Task. A thread that runs
// such a constructor and the one that opens the session then wait for each other, for ever. At a
// start that is suspended they do not meet: the runtime enables its EventSources as it makes them.
// Source: dotnet/runtime#119014, #105682, #112470; one of 900 programs on .NET 9 stood still when
// requests were recorded from some 5 ms after their start.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace clrscope::capture {

inline constexpr std::chrono::milliseconds kSettleTime{1000};

// What is left of kSettleTime since the process began; 0 when that is over, or there is no such
// process.
std::chrono::milliseconds UntilSettled(pid_t pid);

// Sleeps for that time.
void LetSettle(pid_t pid);

}  // namespace clrscope::capture
