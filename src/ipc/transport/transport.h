// SPDX-License-Identifier: Apache-2.0
// How to get at a runtime: one connection carries one command, so each command opens its own.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "ipc/transport/deadline.h"

namespace clrscope::ipc {

class Transport {
 public:
  virtual ~Transport() = default;
  // A fresh connection, nonblocking and close-on-exec. May be called from several threads at once.
  virtual Result<Fd> Open(Deadline deadline) = 0;
  // For messages: "process 1234", a path …
  virtual std::string description() const = 0;
};

// Dials a runtime's own socket.
class SocketTransport final : public Transport {
 public:
  // pid: the host pid of the process that must be the one that listens there, 0 = whoever. /tmp is
  // open to everybody, so a socket's name alone proves nothing.
  explicit SocketTransport(std::string path, pid_t pid = 0) : path_(std::move(path)), pid_(pid) {}

  // errors: those of ConnectUnix; kPermission when another process listens at the path
  Result<Fd> Open(Deadline deadline) override;
  std::string description() const override;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  pid_t pid_ = 0;
};

}  // namespace clrscope::ipc
