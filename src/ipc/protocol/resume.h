// SPDX-License-Identifier: Apache-2.0
// Lets a runtime go that waits at its start for a tool that will not come.
#pragma once

#include "base/result.h"
#include "ipc/processes/process_facts.h"
#include "ipc/transport/deadline.h"

namespace clrscope::ipc {

// Resumes it through its own socket, and through each port that it dials and nobody listens at:
// those are taken over for a moment, since resuming through its own socket alone does not free it
// (measured on .NET 10).
//   errors: kUsage when it does not wait; kRefused when it waits for a tool that listens;
//           kTimeout, kPermission, kIo
Status ResumeAtStart(const ProcessFacts& facts, Deadline deadline);

}  // namespace clrscope::ipc
