// SPDX-License-Identifier: Apache-2.0
// Letting go of runtimes that wait for us, so that neither they nor their children hang without us.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ipc/transport/deadline.h"
#include "ipc/transport/reverse_server.h"

namespace clrscope::ipc {

// What a program's own environment is given after `suspend`: room for DisarmChildren() to write
// `nosuspend` there. The runtime skips empty parts.
// Source: dotnet/runtime src/native/eventpipe/ds-ipc.c, ds_ipc_stream_factory_configure
inline constexpr std::string_view kRoomToDisarm = ",,";

// Whether that process was started to wait at `path`; nothing where its environment may not be
// read.
std::optional<bool> WaitsAt(pid_t pid, const std::string& path);

// Rewrites our entry of DOTNET_DiagnosticPorts in the target's environment from suspend to
// nosuspend; other entries stay. Processes that it starts from then on still dial us, but do not
// wait: without a listener they just run. A runtime has a copy of the environment, which managed
// code hands on; native code hands on what the kernel gave the process. That is written through
// /proc/PID/mem, where we may and there is room. To be called before ResumeRuntime.
Status DisarmChildren(ReverseServer& server, const ReverseRuntime& runtime, Deadline deadline);

// DisarmChildren, then ResumeRuntime; resumes even when the former failed, and returns the first
// error. Each may take until `patience` is over.
Status Release(ReverseServer& server, const ReverseRuntime& runtime,
               std::chrono::milliseconds patience = std::chrono::milliseconds(1000));

// Releases those of `waiting`, and takes out who was released, or has ended. Returns the former;
// the first error of the others goes to `error`, if it is given.
std::vector<ReverseRuntime> ReleaseAll(
    ReverseServer& server, std::vector<ReverseRuntime>& waiting, Status* error = nullptr,
    std::chrono::milliseconds patience = std::chrono::milliseconds(1000));

}  // namespace clrscope::ipc
