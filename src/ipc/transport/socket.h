// SPDX-License-Identifier: Apache-2.0
// Unix stream sockets with deadlines: nothing here blocks longer than it was told to, and nothing
// here raises SIGPIPE. All descriptors are close-on-exec and nonblocking.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/byte_reader.h"
#include "base/fd.h"
#include "base/result.h"
#include "ipc/transport/deadline.h"

namespace clrscope::ipc {

// Connects to the socket at `path`, which may be longer than sun_path's 108 bytes. A listener whose
// backlog is full is tried again until the deadline.
//   errors: kNotFound (no file, or nobody listens any more), kPermission, kTimeout, kIo
Result<Fd> ConnectUnix(const std::string& path, Deadline deadline);

// Binds and listens at `path` (mode 0600), which must not exist yet.
Result<Fd> ListenUnix(const std::string& path);

// Sends all bytes. errors: kTimeout, kIo (the peer closed)
Status SendAll(int fd, Bytes bytes, Deadline deadline);

// Fills `out`. errors: kTimeout, kTruncated (the peer closed first; the message says after how many
// bytes), kIo
Status ReceiveExactly(int fd, std::span<std::byte> out, Deadline deadline);

// Who is at the other end, as the kernel noted it: for a connection made to a listener, the process
// that called listen(2); for an accepted one, the process that called connect(2).
//   pid: in our pid namespace, 0 when it is not visible from there
struct PeerIds {
  pid_t pid = 0;
  uid_t uid = 0;
};
std::optional<PeerIds> PeerOf(int fd);

}  // namespace clrscope::ipc
