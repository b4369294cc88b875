// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>

#include "ipc/processes/release.h"
#include "ipc/protocol/client.h"
#include "ipc/protocol/resume.h"
#include "ipc/transport/transport.h"

namespace clrscope::ipc {
namespace {

constexpr int kPollMs = 100;
constexpr std::chrono::milliseconds kSettle{2000};

// Whoever else waits at the port is released as well.
Status TakeOver(const std::string& path, pid_t pid, Deadline deadline) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ReverseServer> server, ReverseServer::Adopt(path));
  while (!deadline.expired()) {
    pollfd wait{server->fd(), POLLIN, 0};
    (void)::poll(&wait, 1, kPollMs);
    for (const ReverseRuntime& runtime : server->Pump()) {
      Status status = Release(*server, runtime);
      if (runtime.pid == pid) return status;
    }
  }
  return Error{ErrorCode::kTimeout, fmt::format("process {} did not dial {} in time", pid, path)};
}

}  // namespace

Status ResumeAtStart(const ProcessFacts& facts, Deadline deadline) {
  if (!facts.suspended_at_start())
    return Error{ErrorCode::kUsage,
                 fmt::format("process {} does not wait at its start", facts.pid)};
  for (const std::string& path : facts.unheard_ports)
    RETURN_IF_ERROR(TakeOver(facts.root + path, facts.pid, deadline));
  SocketTransport transport(facts.socket_path, facts.pid);
  RETURN_IF_ERROR(Client(transport).ResumeRuntime(deadline));
  for (const Deadline settle = deadline.AtMost(kSettle); !settle.expired();) {
    (void)::poll(nullptr, 0, kPollMs);
    const Result<ProcessFacts> now = GatherFacts(facts.pid);
    if (!now.ok() || !now->suspended_at_start()) return OkStatus();
  }
  return Error{ErrorCode::kRefused,
               fmt::format("process {} still waits: the tool that listens at its diagnostic port "
                           "has to resume it",
                           facts.pid)};
}

}  // namespace clrscope::ipc
