// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "capture/streams/drain.h"
#include "capture/streams/event_fd.h"

namespace clrscope::capture {
namespace {

constexpr int kReads = 16;

Error SystemError(const char* what) {
  return Error{ErrorCode::kIo, fmt::format("{}: {}", what, strerror(errno))};
}

}  // namespace

Result<std::unique_ptr<Drain>> Drain::Start() {
  std::unique_ptr<Drain> d(new Drain);
  d->epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  d->wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  d->ready_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!d->epoll_.valid() || !d->wake_.valid() || !d->ready_.valid())
    return SystemError("cannot start the drain thread");
  epoll_event e{};
  e.events = EPOLLIN;
  e.data.fd = d->wake_.get();
  if (::epoll_ctl(d->epoll_.get(), EPOLL_CTL_ADD, d->wake_.get(), &e) != 0)
    return SystemError("cannot start the drain thread");
  d->thread_ = std::thread([raw = d.get()] { raw->Run(); });
  return d;
}

void Drain::Shut() {
  stop_ = true;
  if (wake_.valid()) Notify(wake_.get());
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  for (auto& [fd, stream] : streams_) stream.ring->Close();
  streams_.clear();
}

Status Drain::Add(Fd socket, std::shared_ptr<StreamRing> ring) {
  const int fd = socket.get();
  epoll_event e{};
  e.events = EPOLLIN | EPOLLRDHUP;
  e.data.fd = fd;
  const std::lock_guard lock(mutex_);
  if (stop_) return Error{ErrorCode::kFailed, "the recording is over"};
  streams_[fd] = {std::move(socket), std::move(ring)};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &e) != 0) {
    streams_.erase(fd);
    return SystemError("cannot watch a session");
  }
  return OkStatus();
}

void Drain::Remove(const std::shared_ptr<StreamRing>& ring) {
  const std::lock_guard lock(mutex_);
  for (auto it = streams_.begin(); it != streams_.end(); ++it) {
    if (it->second.ring != ring) continue;
    (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, it->first, nullptr);
    streams_.erase(it);
    break;
  }
  ring->Close();
}

void Drain::Run() {
  // Signals are the main thread's.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  pthread_setname_np(pthread_self(), "drain");
  epoll_event events[64];
  while (!stop_) {
    const int n = ::epoll_wait(epoll_.get(), events, 64, -1);
    if (n < 0 && errno != EINTR) return;
    for (int i = 0; i < n; ++i) {
      if (events[i].data.fd == wake_.get()) continue;
      Read(events[i].data.fd);
    }
    if (n > 0) Notify(ready_.get());
  }
}

void Drain::Read(int fd) {
  // Held while reading, so that Remove() cannot close the descriptor under us; the read does not
  // block.
  const std::lock_guard lock(mutex_);
  const auto it = streams_.find(fd);
  if (it == streams_.end()) return;
  const std::shared_ptr<StreamRing> ring = it->second.ring;
  // A few reads at a time, so that one flooding target does not keep the others waiting.
  for (int i = 0; i < kReads; ++i) {
    const ssize_t n = ::recv(fd, buffer_.get(), kReadBytes, 0);
    if (n > 0) {
      ring->Push({buffer_.get(), static_cast<size_t>(n)});
      if (static_cast<size_t>(n) < kReadBytes) return;
      continue;
    }
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    streams_.erase(it);
    ring->Close();
    return;
  }
}

}  // namespace clrscope::capture
