// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agent/control/control.h"
#include "agent/host/errno_text.h"
#include "agent/host/start_environment.h"
#include "base/control_path.h"

namespace clrscope::agent {
namespace {

// The functions have another name in the C library before glibc 2.33.
bool LookAt(const std::string& path, struct stat* file) {
  return ::syscall(SYS_newfstatat, AT_FDCWD, path.c_str(), file, AT_SYMLINK_NOFOLLOW) == 0;
}

// Only the program's own user may talk to the agent, and root.
bool IsAllowed(int fd) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return false;
  return who.uid == ::geteuid() || who.uid == 0;
}

// Yama lets a process trace its descendants, and whoever they allow to. One peer at a time: the
// kernel keeps the last one, until that ends. Source: linux security/yama/yama_lsm.c
std::string AllowToTrace(int fd) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.pid <= 0)
    return "error it is not known who asks: it is in another pid namespace";
  if (::prctl(PR_SET_PTRACER, who.pid, 0, 0, 0) != 0)
    return errno == EINVAL ? "error the kernel has no Yama, or does not find who asks"
                           : "error the kernel does not allow it: " + ErrnoText(errno);
  return "ok";
}

}  // namespace

void SendQueue::Append(std::string_view bytes) {
  constexpr size_t kPiece = 64 * 1024;
  size_ += bytes.size();
  if (!pieces_.empty() && pieces_.back().size() + bytes.size() <= kPiece) {
    pieces_.back() += bytes;
  } else if (!bytes.empty()) {
    pieces_.emplace_back(bytes);
  }
}

void SendQueue::Sent(size_t n) {
  size_ -= n;
  sent_ += n;
  if (pieces_.empty() || sent_ < pieces_.front().size()) return;
  pieces_.pop_front();
  sent_ = 0;
}

Control::~Control() { Close(); }

Status Control::Listen(std::string_view folder) {
  path_ = folder.empty() ? StartVariable("TMPDIR").value_or("") : std::string(folder);
  if (path_.empty()) path_ = "/tmp";
  if (path_.back() != '/') path_ += '/';
  path_ += ControlSocketName(static_cast<uint32_t>(::getpid()), StartTicks("/proc/self/stat"));
  // Under its name it is there only once it can be connected to: a socket that nobody listens at is
  // taken for a dead process's, and removed.
  const std::string before = path_ + std::string(kControlSocketBefore);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  static_assert(sizeof address.sun_path > kMostControlPath + kControlSocketBefore.size());
  if (path_.size() > kMostControlPath)
    return Error{ErrorCode::kIo, "the path of the control socket is too long: " + path_};
  std::memcpy(address.sun_path, before.c_str(), before.size());
  listener_ = AgentFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  (void)::unlink(before.c_str());
  struct stat file {};
  if (::fchmod(listener_.get(), 0600) != 0 ||
      ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(before.c_str(), 0600) != 0 || ::listen(listener_.get(), 8) != 0 ||
      !LookAt(before, &file) || ::rename(before.c_str(), path_.c_str()) != 0) {
    Error error{ErrorCode::kIo, "cannot listen at " + path_ + ": " + ErrnoText(errno)};
    (void)::unlink(before.c_str());
    listener_.reset();
    return error;
  }
  device_ = file.st_dev;
  inode_ = file.st_ino;
  return OkStatus();
}

void Control::StopListening() {
  if (!listener_.valid()) return;
  // Another agent's may lie there by now: this one was thought to be gone.
  struct stat file {};
  if (LookAt(path_, &file) && file.st_dev == device_ && file.st_ino == inode_)
    (void)::unlink(path_.c_str());
  listener_.reset();
}

void Control::Close() {
  StopListening();
  peers_.clear();
}

void Control::AddPolls(std::vector<pollfd>& polls) const {
  if (listener_.valid()) polls.push_back({listener_.get(), POLLIN, 0});
  for (const auto& p : peers_) {
    const bool read = !p->ended && p->wants_answers();
    polls.push_back(
        {p->fd.get(), static_cast<short>((read ? POLLIN : 0) | (p->out.empty() ? 0 : POLLOUT)), 0});
  }
}

bool Control::has_lines() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& p) {
    return p->wants_answers() && p->in.find('\n') != std::string::npos;
  });
}

void Control::Accept() {
  while (listener_.valid()) {
    AgentFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid()) return;
    if (!IsAllowed(fd.get())) continue;
    if (peers_.size() >= kMaxPeers) {
      // Whoever has been there for longest and is no subscriber makes room.
      const auto oldest =
          std::find_if(peers_.begin(), peers_.end(), [](const auto& p) { return !p->subscribed; });
      if (oldest == peers_.end()) continue;
      peers_.erase(oldest);
    }
    peers_.push_back(std::make_unique<Peer>());
    peers_.back()->fd = std::move(fd);
  }
}

void Control::Write(Peer& p) {
  while (!p.out.empty()) {
    const std::string_view next = p.out.front();
    const ssize_t n = ::send(p.fd.get(), next.data(), next.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n <= 0) {
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno != EAGAIN) p.gone = true;
      return;
    }
    p.out.Sent(static_cast<size_t>(n));
  }
}

void Control::Read(Peer& p) {
  char buffer[4096];
  while (!p.ended && p.wants_answers() && p.in.size() <= kMaxLine) {
    const ssize_t n = ::recv(p.fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) {
      p.gone = true;
      return;
    }
    p.ended = n == 0;  // what it has said before is still answered
    p.in.append(buffer, static_cast<size_t>(n));
  }
}

void Control::Answer(Peer& p, ControlHandler& handler) {
  size_t begin = 0;
  for (int lines = 0; lines < kLinesATurn && p.wants_answers(); ++lines) {
    const size_t end = p.in.find('\n', begin);
    if (end == std::string::npos) {
      p.gone = p.gone || p.in.size() - begin > kMaxLine;
      break;
    }
    const std::string line = p.in.substr(begin, end - begin);
    begin = end + 1;
    const bool wants_frames = line == "subscribe";
    if (wants_frames && has_subscriber() && !p.subscribed) {
      p.out.Append("error another clrscope is connected\n");
      continue;
    }
    if (wants_frames) {
      p.out.Append("ok\n");
      p.subscribed = true;
      handler.OwnerCame();
      continue;
    }
    const std::string answer = line == "ptracer" ? AllowToTrace(p.fd.get()) : handler.Command(line);
    // A subscriber's stream holds frames and nothing else.
    if (!p.subscribed) p.out.Append(answer + "\n");
  }
  p.in.erase(0, begin);
}

void Control::Serve(ControlHandler& handler) {
  Accept();
  for (size_t i = 0; i < peers_.size();) {
    Peer& p = *peers_[i];
    Read(p);
    Answer(p, handler);
    Write(p);
    const bool done =
        p.ended && (p.subscribed || (p.out.empty() && p.in.find('\n') == std::string::npos));
    if (!p.gone && !done) {
      ++i;
      continue;
    }
    const bool owner = p.subscribed;
    peers_.erase(peers_.begin() + static_cast<ptrdiff_t>(i));
    if (owner) handler.OwnerLeft();
  }
}

bool Control::has_subscriber() const {
  return std::any_of(peers_.begin(), peers_.end(),
                     [](const auto& p) { return p->subscribed && !p->gone; });
}

bool Control::Send(std::string_view frame) {
  for (const auto& p : peers_) {
    if (!p->subscribed || p->gone) continue;
    // One that is larger than all that may wait is sent, when nothing waits.
    if (!p->out.empty() && p->out.size() + frame.size() > kMaxFrames) return false;
    const auto size = static_cast<uint32_t>(frame.size());
    char head[4];
    std::memcpy(head, &size, 4);
    p->out.Append({head, 4});
    p->out.Append(frame);
    Write(*p);
    return true;
  }
  return false;
}

void Control::Flush(int milliseconds) {
  for (int waited = 0; waited < milliseconds;) {
    std::vector<pollfd> polls;
    for (const auto& p : peers_) {
      if (p->gone) continue;
      Write(*p);
      if (!p->out.empty() && !p->gone) polls.push_back({p->fd.get(), POLLOUT, 0});
    }
    if (polls.empty()) return;
    constexpr int kSlice = 50;
    const int ready = ::poll(polls.data(), polls.size(), kSlice);
    waited += ready == 0 ? kSlice : 1;
  }
}

size_t Control::memory_bytes() const {
  size_t bytes = 0;
  for (const auto& p : peers_) bytes += sizeof(Peer) + p->in.capacity() + p->out.size();
  return bytes;
}

}  // namespace clrscope::agent
