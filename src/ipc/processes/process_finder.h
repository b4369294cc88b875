// SPDX-License-Identifier: Apache-2.0
// Finds .NET processes, those in containers and those that cannot be attached to included.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ipc/processes/dotnet_process.h"
#include "ipc/transport/transport.h"

namespace clrscope::ipc {

struct FindOptions {
  bool ask = true;  // talk to each process for its runtime's version; else only look at /proc
  // For each answer; several are awaited at once. A busy machine lets a program wait for a second.
  std::chrono::milliseconds timeout{2000};
};

// All .NET processes on the machine but our own, by pid.
std::vector<DotnetProcess> FindProcesses(const FindOptions& options = {});

// One process, attachable or not; it gets five seconds to answer at least. errors: kNotFound,
// kNotDotnet
Result<DotnetProcess> FindProcess(pid_t pid, const FindOptions& options = {});

// Those whose name or entry assembly is `name` ("MyApp" or "MyApp.dll"); empty when there are none.
std::vector<DotnetProcess> FindByName(std::string_view name, const FindOptions& options = {});

// The way to a process that was found. errors: why it is not attachable, with reason_code
Result<std::unique_ptr<Transport>> OpenTransport(const DotnetProcess& process);

}  // namespace clrscope::ipc
