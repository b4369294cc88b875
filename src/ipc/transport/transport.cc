// SPDX-License-Identifier: Apache-2.0
// Connecting by path, with a look at who is there.
#include "ipc/transport/transport.h"

#include <fmt/format.h>

#include "ipc/transport/socket.h"

namespace clrscope::ipc {

Result<Fd> SocketTransport::Open(Deadline deadline) {
  ASSIGN_OR_RETURN(Fd fd, ConnectUnix(path_, deadline));
  const std::optional<PeerIds> peer = PeerOf(fd.get());
  // A peer outside our pid namespace has pid 0 and cannot be compared.
  if (pid_ != 0 && peer && peer->pid != 0 && peer->pid != pid_)
    return Error{ErrorCode::kPermission,
                 fmt::format("{}: process {} of user {} listens there, not process {}", path_,
                             peer->pid, peer->uid, pid_)};
  return fd;
}

std::string SocketTransport::description() const {
  return pid_ != 0 ? fmt::format("process {}", pid_) : path_;
}

}  // namespace clrscope::ipc
