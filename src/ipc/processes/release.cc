// SPDX-License-Identifier: Apache-2.0
// Disarm, resume, and the sweep at the end.
#include "ipc/processes/release.h"

#include <algorithm>
#include <string>

#include "ipc/processes/clr_config.h"

namespace clrscope::ipc {
namespace {

constexpr std::string_view kPorts = "DOTNET_DiagnosticPorts";
constexpr std::chrono::milliseconds kPerRuntime{1000};

}  // namespace

Status DisarmChildren(Client& client, const ReverseServer& server, Deadline deadline) {
  ASSIGN_OR_RETURN(const Environment environment, client.GetEnvironment(deadline));
  std::string ports;
  for (const auto& [name, value] : environment)
    if (name == kPorts) ports = value;
  return client.SetEnvironmentVariable(kPorts, WithPort(ports, server.path(), false), deadline);
}

Status Release(Client& client, const ReverseServer& server, Deadline deadline) {
  const Status disarmed = DisarmChildren(client, server, deadline);
  const Status resumed = client.ResumeRuntime(deadline);
  return disarmed.ok() ? resumed : disarmed;
}

size_t ReleaseAll(ReverseServer& server, Deadline deadline) {
  size_t released = 0;
  server.Pump();
  for (const ReverseRuntime& runtime : server.Runtimes()) {
    ReverseTransport transport(server, runtime);
    Client client(transport);
    // One that hangs or has ended must not use up the others' time.
    if (Release(client, server, deadline.AtMost(kPerRuntime)).ok()) ++released;
    if (deadline.expired()) break;
  }
  return released;
}

}  // namespace clrscope::ipc
