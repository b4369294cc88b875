// SPDX-License-Identifier: Apache-2.0
// Unix sockets on Linux: the escape from sun_path's limit goes through /proc/self/fd.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "ipc/transport/socket.h"

namespace clrscope::ipc {
namespace {

constexpr int kBacklog = 255;  // as the runtime's own (ds-ipc-pal-socket.c)

Error SocketError(int error, std::string_view what) {
  ErrorCode code = ErrorCode::kIo;
  if (error == EACCES || error == EPERM) code = ErrorCode::kPermission;
  if (error == ENOENT || error == ENOTDIR || error == ECONNREFUSED) code = ErrorCode::kNotFound;
  return Error{code, fmt::format("{}: {}", what, std::strerror(error))};
}

// An address for `path`. When the path is too long, a descriptor of its folder stands in for the
// folder's name, and has to live as long as the address is in use.
struct Address {
  sockaddr_un un{};
  Fd folder;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&un); }
};

Result<Address> MakeAddress(const std::string& path) {
  Address address;
  address.un.sun_family = AF_UNIX;
  std::string name = path;
  if (name.size() >= sizeof(address.un.sun_path)) {
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    address.folder = Fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!address.folder.valid()) return SocketError(errno, folder);
    name = fmt::format("/proc/self/fd/{}/{}", address.folder.get(), path.substr(slash + 1));
    if (name.size() >= sizeof(address.un.sun_path))
      return Error{ErrorCode::kUsage, fmt::format("{}: the socket's name is too long", path)};
  }
  std::memcpy(address.un.sun_path, name.c_str(), name.size() + 1);
  return address;
}

Result<Fd> NewSocket() {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return SocketError(errno, "socket");
  return fd;
}

// Waits until `fd` is ready for `events` (or has an error to tell, which the next call returns).
Status WaitFor(int fd, short events, Deadline deadline, std::string_view what) {
  for (;;) {
    pollfd p{fd, events, 0};
    const int n = ::poll(&p, 1, deadline.poll_timeout_ms());
    if (n > 0) return OkStatus();
    if (n < 0 && errno != EINTR) return SocketError(errno, "poll");
    if (n == 0 && deadline.expired())
      return Error{ErrorCode::kTimeout, fmt::format("no answer in time while {}", what)};
  }
}

}  // namespace

Result<Fd> ConnectUnix(const std::string& path, Deadline deadline) {
  ASSIGN_OR_RETURN(const Address address, MakeAddress(path));
  ASSIGN_OR_RETURN(Fd fd, NewSocket());
  for (;;) {
    if (::connect(fd.get(), address.get(), sizeof(address.un)) == 0) return fd;
    if (errno == EINTR) continue;
    // A full backlog is EAGAIN on Linux, and there is nothing to poll for.
    if (errno != EAGAIN) return SocketError(errno, path);
    if (deadline.expired())
      return Error{ErrorCode::kTimeout, fmt::format("{}: does not accept connections", path)};
    std::this_thread::sleep_for(std::chrono::milliseconds(deadline.poll_timeout_ms(5)));
  }
}

Result<Fd> ListenUnix(const std::string& path) {
  ASSIGN_OR_RETURN(const Address address, MakeAddress(path));
  ASSIGN_OR_RETURN(Fd fd, NewSocket());
  // On Linux the mode of an unbound socket becomes that of its file, less the umask.
  if (::fchmod(fd.get(), 0600) != 0) return SocketError(errno, path);
  if (::bind(fd.get(), address.get(), sizeof(address.un)) != 0) return SocketError(errno, path);
  if (::listen(fd.get(), kBacklog) != 0) {
    const int error = errno;
    ::unlink(path.c_str());
    return SocketError(error, path);
  }
  return fd;
}

Status SendAll(int fd, Bytes bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      bytes = bytes.subspan(static_cast<size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) return SocketError(errno, "sending a request");
    RETURN_IF_ERROR(WaitFor(fd, POLLOUT, deadline, "sending the request"));
  }
  return OkStatus();
}

Status ReceiveExactly(int fd, std::span<std::byte> out, Deadline deadline) {
  size_t done = 0;
  while (done < out.size()) {
    // A peer that dribbles never lets recv() wait, so the clock is asked here as well.
    if (deadline.expired())
      return Error::At(ErrorCode::kTimeout, done,
                       fmt::format("only {} of {} bytes came in time", done, out.size()));
    const ssize_t n = ::recv(fd, out.data() + done, out.size() - done, MSG_DONTWAIT);
    if (n > 0) {
      done += static_cast<size_t>(n);
    } else if (n == 0) {
      return Error::At(
          ErrorCode::kTruncated, done,
          fmt::format("the peer closed the connection after {} of {} bytes", done, out.size()));
    } else if (errno == EAGAIN) {
      RETURN_IF_ERROR(WaitFor(fd, POLLIN, deadline, "waiting for the reply"));
    } else if (errno != EINTR) {
      return SocketError(errno, "reading a reply");
    }
  }
  return OkStatus();
}

std::optional<PeerIds> PeerOf(int fd) {
  ucred cred{};
  socklen_t size = sizeof(cred);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) != 0) return std::nullopt;
  return PeerIds{cred.pid, cred.uid};
}

}  // namespace clrscope::ipc
