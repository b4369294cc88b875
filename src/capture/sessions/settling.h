// SPDX-License-Identifier: Apache-2.0
// When sessions of EventSources may be opened in a process: requests, tasks, counters.
//
// The thread of the runtime that opens such a session runs managed code under EventListenersLock.
// The class constructors of EventSources take that lock, too, and a program runs most of them while
// it starts: at its first use of an ArrayPool, of the thread pool, of a Task. A thread that runs
// such a constructor and the one that opens the session then wait for each other, for ever. While
// the runtime is suspended at its start they do not meet: it enables its EventSources as it makes
// them. Source: dotnet/runtime#119014, #105682, #112470; one of 900 programs on .NET 9 stood still
// when requests were recorded from some 5 ms after its runtime's start.
#pragma once

#include <chrono>

#include "ipc/processes/dotnet_process.h"
#include "ipc/protocol/session_config.h"

namespace clrscope::capture {

// After the runtime's start; a process may have run something else before.
inline constexpr std::chrono::milliseconds kSettleTime{1000};

// Whether a session of these providers is one of EventSources. Those that the runtime itself
// implements enable no managed code that could wait.
bool TakesEventSources(const ipc::SessionConfig& config);

// What is left of kSettleTime since the runtime made its socket, else since the process began; 0
// when that is over, or neither is known.
std::chrono::milliseconds UntilSettled(const ipc::DotnetProcess& process);

}  // namespace clrscope::capture
