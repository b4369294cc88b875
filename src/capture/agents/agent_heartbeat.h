// SPDX-License-Identifier: Apache-2.0
// What the agent of a process does, as its heartbeat says: also where it does not answer, and where
// no thread of the process runs. Layout: base/heartbeat_page.h.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

namespace clrscope::capture {

struct AgentHeartbeat {
  std::string call;      // of the runtime, the last one; "poll": a wait; "": there was none
  bool in_call = false;  // it goes on
  std::chrono::nanoseconds since{};  // its begin where it goes on, else its end; 0 without one
};

// nullopt: the process has no agent, or one without a heartbeat, or we may not read its files.
std::optional<AgentHeartbeat> ReadHeartbeat(pid_t pid);

// Whether the agent is in a call of the runtime for as long as that, or its process is stopped:
// whoever has waited for an answer as long need not go on.
bool IsStuck(pid_t pid, std::chrono::nanoseconds for_at_least);

// What the agent's thread does, in words: "its thread has been in SuspendRuntime for 12.3 s".
// "" where nothing is known.
std::string DescribeHeartbeat(pid_t pid);

}  // namespace clrscope::capture
