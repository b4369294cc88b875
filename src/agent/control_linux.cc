// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "agent/control.h"
#include "base/control_path.h"

namespace clrscope::agent {
namespace {

constexpr size_t kMaxPeers = 16;
constexpr size_t kMaxLine = 16 * 1024;
constexpr size_t kMaxQueued = size_t{64} << 20;

// Only the program's own user may talk to the agent, and root.
bool IsAllowed(int fd) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return false;
  return who.uid == ::geteuid() || who.uid == 0;
}

}  // namespace

Control::~Control() { Close(); }

Status Control::Listen() {
  const char* folder = std::getenv("TMPDIR");
  path_ = std::string(folder != nullptr && *folder != 0 ? folder : "/tmp");
  if (path_.back() != '/') path_ += '/';
  path_ += ControlSocketName(static_cast<uint32_t>(::getpid()), StartTicks("/proc/self/stat"));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path)
    return Error{ErrorCode::kIo, "the path of the control socket is too long: " + path_};
  std::memcpy(address.sun_path, path_.c_str(), path_.size());
  listener_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  (void)::unlink(path_.c_str());
  if (::fchmod(listener_.get(), 0600) != 0 ||
      ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path_.c_str(), 0600) != 0 || ::listen(listener_.get(), 8) != 0) {
    Error error{ErrorCode::kIo, "cannot listen at " + path_ + ": " + std::strerror(errno)};
    Close();
    return error;
  }
  return OkStatus();
}

void Control::Close() {
  peers_.clear();
  if (listener_.get() >= 0) (void)::unlink(path_.c_str());
  listener_ = Fd();
}

void Control::AddPolls(std::vector<pollfd>& polls) const {
  if (listener_.get() >= 0) polls.push_back({listener_.get(), POLLIN, 0});
  for (const auto& p : peers_)
    polls.push_back(
        {p->fd.get(), static_cast<short>(p->out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
}

void Control::Accept() {
  while (listener_.get() >= 0) {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd.get() < 0) return;
    if (!IsAllowed(fd.get()) || peers_.size() >= kMaxPeers) continue;
    peers_.push_back(std::make_unique<Peer>());
    peers_.back()->fd = std::move(fd);
  }
}

void Control::Write(Peer& p) {
  while (!p.out.empty()) {
    const ssize_t n = ::send(p.fd.get(), p.out.data(), p.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n <= 0) {
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno != EAGAIN) p.gone = true;
      return;
    }
    p.out.erase(0, static_cast<size_t>(n));
  }
}

void Control::Read(Peer& p, ControlHandler& handler) {
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::recv(p.fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0 || p.in.size() > kMaxLine) {
      p.gone = true;
      break;
    }
    p.in.append(buffer, static_cast<size_t>(n));
  }
  for (size_t end; (end = p.in.find('\n')) != std::string::npos;) {
    const std::string line = p.in.substr(0, end);
    p.in.erase(0, end + 1);
    const bool wants_frames = line == "subscribe";
    if (wants_frames && has_subscriber() && !p.subscribed) {
      p.out += "error another clrscope is connected\n";
      continue;
    }
    if (wants_frames) {
      p.out += "ok\n";
      p.subscribed = true;
      handler.OwnerCame();
      continue;
    }
    const std::string answer = handler.Command(line);
    // A subscriber's stream holds frames and nothing else.
    if (!p.subscribed) p.out += answer + "\n";
  }
}

void Control::Serve(ControlHandler& handler) {
  Accept();
  for (size_t i = 0; i < peers_.size();) {
    Peer& p = *peers_[i];
    Read(p, handler);
    Write(p);
    if (!p.gone) {
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
    if (p->out.size() + frame.size() > kMaxQueued) return false;
    const auto size = static_cast<uint32_t>(frame.size());
    char head[4];
    std::memcpy(head, &size, 4);
    p->out.append(head, 4);
    p->out += frame;
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
    (void)::poll(polls.data(), polls.size(), kSlice);
    waited += kSlice;
  }
}

}  // namespace clrscope::agent
