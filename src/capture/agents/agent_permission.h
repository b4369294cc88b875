// SPDX-License-Identifier: Apache-2.0
// The right to trace a process that Yama keeps from us: where kernel.yama.ptrace_scope is 1, the
// default of Ubuntu, a process is traced by its parents alone, and by the one process that it
// allows itself (PR_SET_PTRACER). The agent is inside, and allows whoever asks it. The kernel takes
// the permission back when clrscope ends, or when somebody else gets it.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "ipc/processes/dotnet_process.h"

namespace clrscope::capture {

// Asks the agent of the process, where it has one and only Yama stands in the way. Waits for it.
void AskForTraceRight(pid_t pid);

// The same of an agent that is loaded for that moment alone. errors: of AttachAgent()
Status LoadAgentForTraceRight(pid_t pid);

// For `doctor`: whether one is there or may be loaded.
bool HasOrMayGetAgent(const ipc::DotnetProcess& process);

}  // namespace clrscope::capture
