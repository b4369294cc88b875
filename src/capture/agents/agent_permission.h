// SPDX-License-Identifier: Apache-2.0
// The right to trace a process that Yama keeps from us: where kernel.yama.ptrace_scope is 1, which
// is the default of Ubuntu, a process is traced by its parents alone, and by whom it allows itself
// (PR_SET_PTRACER). The agent is inside, and allows whoever asks it. The kernel takes the
// permission back when clrscope ends.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "ipc/processes/dotnet_process.h"

namespace clrscope::capture {

// Has the agent of the process allow us to trace it, where it has one and only Yama stands in the
// way. Waits for the agent then.
void AskForTraceRight(pid_t pid);

// The same, and where it has none and `may_load`, one is loaded for that moment alone; `note` is a
// sentence about that then. errors: of MayTrace(), with what keeps the agent from it
Status GainTraceRight(const ipc::DotnetProcess& process, bool may_load, std::string& note);

// For `doctor`: whether GainTraceRight() may load an agent for it, or find one.
bool AgentMayAllowTracing(const ipc::DotnetProcess& process);

}  // namespace clrscope::capture
