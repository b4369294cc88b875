// SPDX-License-Identifier: Apache-2.0
// What the agent of a process does, as its heartbeat says: also where it does not answer, and where
// no thread of the process runs. Layout: base/heartbeat_page.h.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "base/result.h"

namespace clrscope::capture {

struct AgentHeartbeat {
  std::string call;      // of the runtime, the last one; "poll": a wait; "": there was none
  bool in_call = false;  // it goes on
  std::chrono::nanoseconds since{};  // its begin where it goes on, else its end; 0 without one
  bool leaves = false;               // the agent listens no more, and is about to be let go
  bool process_stopped = false;      // by a signal or a debugger
};

// errors: kNotFound (no such process, or it has no agent with a heartbeat), kPermission (we may not
// read /proc/PID/fd)
Result<AgentHeartbeat> ReadHeartbeat(pid_t pid);

// Whether the agent is in a call of the runtime for as long as that, or its process is stopped:
// whoever has waited for an answer as long need not go on.
bool IsStuck(const AgentHeartbeat& beat, std::chrono::nanoseconds for_at_least);

// "its thread has been in SuspendRuntime for 12.3 s"
std::string InWords(const AgentHeartbeat& beat);

// The end of a sentence: ": " and these words, or why nothing is known; "" where there is no
// heartbeat.
std::string HeartbeatSuffix(const Result<AgentHeartbeat>& beat);

}  // namespace clrscope::capture
