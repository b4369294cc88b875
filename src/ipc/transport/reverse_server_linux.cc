// SPDX-License-Identifier: Apache-2.0
// The listening end of a diagnostic port, on epoll.
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "ipc/processes/proc_stat.h"
#include "ipc/transport/reverse_server.h"
#include "ipc/transport/socket.h"

namespace clrscope::ipc {
namespace {

constexpr std::chrono::milliseconds kIntroductionTime{5000};
constexpr std::chrono::milliseconds kAdoptPeek{100};
constexpr size_t kMaxConnections = 4096;
constexpr int kMaxRounds = 64;  // without descriptors to accept with, the listener stays readable
constexpr int kLookAroundMs = 20;  // another thread's Pump() may take what we wait for

bool Watch(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.fd = fd;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// Of folders that clrscope makes. After such a one was removed somebody else may have made another,
// and whoever listens at the path commands the runtimes that dial it. Through /proc/PID/root it is
// the process's.
Status CheckOurs(const std::string& folder) {
  struct stat s {};
  if (folder.starts_with("/proc/") || folder.find("/clrscope-") == std::string::npos ||
      ::lstat(folder.c_str(), &s) != 0 || (S_ISDIR(s.st_mode) && s.st_uid == ::geteuid()))
    return OkStatus();
  return Error{ErrorCode::kPermission, fmt::format("{} is not a folder of ours", folder)};
}

bool HasEnded(pid_t pid) { return pid > 0 && IsEnding(pid, std::chrono::milliseconds(0)); }

}  // namespace

struct ReverseServer::Connection {
  Fd fd;
  Deadline due = Deadline::After(kIntroductionTime);
  std::array<std::byte, kAdvertiseSize> buffer{};
  size_t filled = 0;
  Guid cookie{};

  bool introduced() const { return filled == buffer.size(); }
};

Result<std::unique_ptr<ReverseServer>> ReverseServer::Create(std::string parent) {
  std::vector<std::string> parents = {std::move(parent)};
  if (parents.front().empty()) {
    parents = {"/tmp", "/dev/shm", "/var/tmp"};
    if (const char* ours = std::getenv("XDG_RUNTIME_DIR"); ours != nullptr && *ours == '/')
      parents.insert(parents.begin(), ours);
    if (const char* ours = std::getenv("TMPDIR"); ours != nullptr && *ours == '/')
      parents.emplace_back(ours);
  }
  std::string reasons;
  ErrorCode code = ErrorCode::kIo;
  for (const std::string& place : parents) {
    std::string folder = place + "/clrscope-XXXXXX";
    if (::mkdtemp(folder.data()) != nullptr) {
      std::unique_ptr<ReverseServer> server(new ReverseServer);
      server->folder_ = folder;
      server->path_ = folder + "/port.sock";
      RETURN_IF_ERROR(server->Listen());
      return server;
    }
    if (errno == EACCES) code = ErrorCode::kPermission;
    reasons += fmt::format("{}{} ({})", reasons.empty() ? "" : ", ", place, std::strerror(errno));
  }
  return Error{code, fmt::format("cannot make a folder for the port that programs dial: {}; name "
                                 "one by TMPDIR",
                                 reasons)};
}

Result<std::unique_ptr<ReverseServer>> ReverseServer::Adopt(std::string path) {
  const Result<Fd> other = ConnectUnix(path, Deadline::After(kAdoptPeek));
  if (other.ok() || other.error().code == ErrorCode::kTimeout)
    return Error{ErrorCode::kRefused, fmt::format("{}: somebody listens there", path)};
  if (other.error().code != ErrorCode::kNotFound) return other.error();
  RETURN_IF_ERROR(CheckOurs(FolderOf(path)));
  std::error_code ignored;
  if (std::filesystem::is_socket(path, ignored)) ::unlink(path.c_str());
  std::unique_ptr<ReverseServer> server(new ReverseServer);
  server->path_ = std::move(path);
  RETURN_IF_ERROR(server->Listen());
  return server;
}

Status ReverseServer::Listen() {
  if (path_.size() >= sizeof(sockaddr_un{}.sun_path))
    return Error{ErrorCode::kUsage,
                 fmt::format("{}: too long a path for a runtime to dial", path_)};
  ASSIGN_OR_RETURN(listener_, ListenAtPath());
  owner_ = ::getpid();
  epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  announced_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  ready_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!Watch(epoll_.get(), listener_.get()) || !Watch(ready_.get(), epoll_.get()) ||
      !Watch(ready_.get(), announced_.get()))
    return Error{ErrorCode::kIo, fmt::format("epoll: {}", std::strerror(errno))};
  return OkStatus();
}

// The folder may have been removed, with what was in it.
Result<Fd> ReverseServer::ListenAtPath() {
  std::string folder = FolderOf(path_);
  if (::mkdir(folder.c_str(), 0700) == 0)
    folder_ = std::move(folder);
  else
    RETURN_IF_ERROR(CheckOurs(folder));
  ASSIGN_OR_RETURN(Fd listener, ListenUnix(path_));
  struct stat s {};
  socket_ = ::lstat(path_.c_str(), &s) == 0 ? s.st_ino : 0;
  return listener;
}

ReverseServer::~ReverseServer() {
  // owner_ is 0 until the socket is ours; the folder may be, though.
  if (owner_ == ::getpid()) ::unlink(path_.c_str());
  if (!folder_.empty() && (owner_ == 0 || owner_ == ::getpid())) ::rmdir(folder_.c_str());
}

Status ReverseServer::KeepPath() {
  const std::lock_guard lock(mutex_);
  struct stat s {};
  if (::lstat(path_.c_str(), &s) == 0 && s.st_ino == socket_) return OkStatus();
  ASSIGN_OR_RETURN(Fd listener, ListenAtPath());
  AcceptAll();  // who dialled the former one
  if (!Watch(epoll_.get(), listener.get())) {
    const int error = errno;
    ::unlink(path_.c_str());
    return Error{ErrorCode::kIo, fmt::format("epoll: {}", std::strerror(error))};
  }
  listener_ = std::move(listener);
  return OkStatus();
}

std::vector<ReverseRuntime> ReverseServer::Pump() {
  const std::lock_guard lock(mutex_);
  Serve();
  uint64_t count;
  (void)!::read(announced_.get(), &count, sizeof(count));
  return std::exchange(fresh_, {});
}

void ReverseServer::Serve() {
  std::array<epoll_event, 64> events;
  for (int round = 0; round < kMaxRounds; ++round) {
    const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == listener_.get()) {
        AcceptAll();
      } else if (const auto it = connections_.find(fd); it != connections_.end()) {
        // A runtime says nothing after its introduction: whatever comes then is its end.
        if (it->second->introduced())
          Drop(fd);
        else
          ReadIntroduction(*it->second);
      }
    }
  }
  DropOverdue();
}

void ReverseServer::AcceptAll() {
  for (;;) {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd.valid()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    if (connections_.size() >= kMaxConnections) continue;  // closes it; a runtime dials again
    const int key = fd.get();
    auto connection = std::make_unique<Connection>();
    connection->fd = std::move(fd);
    if (Watch(epoll_.get(), key)) connections_.emplace(key, std::move(connection));
  }
}

void ReverseServer::ReadIntroduction(Connection& connection) {
  const int fd = connection.fd.get();
  while (!connection.introduced()) {
    const ssize_t n = ::recv(fd, connection.buffer.data() + connection.filled,
                             connection.buffer.size() - connection.filled, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return Drop(fd);
    connection.filled += static_cast<size_t>(n);
  }
  Introduce(connection);
}

void ReverseServer::Introduce(Connection& connection) {
  const int fd = connection.fd.get();
  const Result<Advertise> advertise = ParseAdvertise(connection.buffer);
  if (!advertise.ok()) return Drop(fd);
  const pid_t pid = PeerOf(fd).value_or(PeerIds{}).pid;
  const auto [known, is_new] = runtimes_.try_emplace(
      advertise->cookie, ReverseRuntime{advertise->cookie, static_cast<pid_t>(advertise->pid), pid,
                                        std::chrono::steady_clock::now()});
  // A cookie belongs to one process; another that shows it is not that runtime.
  if (known->second.pid != pid) return Drop(fd);
  connection.cookie = advertise->cookie;
  if (is_new) fresh_.push_back(known->second);
}

void ReverseServer::Drop(int fd) { connections_.erase(fd); }  // closing takes it off the epoll

void ReverseServer::DropOverdue() {
  std::erase_if(connections_, [](const auto& entry) {
    return !entry.second->introduced() && entry.second->due.expired();
  });
}

std::vector<ReverseRuntime> ReverseServer::Runtimes() const {
  const std::lock_guard lock(mutex_);
  std::vector<ReverseRuntime> runtimes;
  for (const auto& [cookie, runtime] : runtimes_) runtimes.push_back(runtime);
  return runtimes;
}

Result<Fd> ReverseServer::Next(const Guid& cookie, Deadline deadline) {
  for (;;) {
    (void)KeepPath();
    {
      const std::lock_guard lock(mutex_);
      Serve();
      // Who polls fd() has seen nothing of them.
      constexpr uint64_t kOne = 1;
      if (!fresh_.empty()) (void)!::write(announced_.get(), &kOne, sizeof(kOne));
      for (auto& [key, connection] : connections_) {
        if (!connection->introduced() || connection->cookie != cookie) continue;
        Fd fd = std::move(connection->fd);
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, key, nullptr);
        connections_.erase(key);
        return fd;
      }
      const auto known = runtimes_.find(cookie);
      if (known != runtimes_.end() && HasEnded(known->second.pid))
        return Error{ErrorCode::kNotFound, fmt::format("process {} has ended", known->second.pid)};
    }
    if (deadline.expired())
      return Error{ErrorCode::kTimeout, "the runtime did not dial again in time"};
    pollfd p{epoll_.get(), POLLIN, 0};
    ::poll(&p, 1, deadline.poll_timeout_ms(kLookAroundMs));
  }
}

std::string ReverseTransport::description() const {
  return fmt::format("process {}", runtime_.pid != 0 ? runtime_.pid : runtime_.inner_pid);
}

}  // namespace clrscope::ipc
