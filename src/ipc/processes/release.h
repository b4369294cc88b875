// SPDX-License-Identifier: Apache-2.0
// Letting go of runtimes that wait for us, so that neither they nor their children hang without us.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "ipc/protocol/client.h"
#include "ipc/transport/deadline.h"
#include "ipc/transport/reverse_server.h"

namespace clrscope::ipc {

// Rewrites our entry of DOTNET_DiagnosticPorts in the target's environment from suspend to
// nosuspend; other entries stay. Processes that it starts from then on still dial us, but do not
// wait: without a listener they just run. To be called before ResumeRuntime.
//   client: of a runtime that has dialled `server`
Status DisarmChildren(Client& client, const ReverseServer& server, Deadline deadline);

// DisarmChildren, then ResumeRuntime; resumes even when the former failed, and returns the first
// error.
Status Release(Client& client, const ReverseServer& server, Deadline deadline);

// Releases every runtime that waits at the port; for the end of clrscope. Returns how many were.
size_t ReleaseAll(ReverseServer& server, Deadline deadline);

}  // namespace clrscope::ipc
