// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "capture/record/signals.h"

namespace clrscope::capture {

Result<Signals> Signals::Take() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCHLD}) sigaddset(&set, s);
  ::signal(SIGPIPE, SIG_IGN);
  if (::pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0)
    return Error{ErrorCode::kFailed, "cannot block signals"};
  Signals signals;
  signals.fd_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.fd_.valid())
    return Error{ErrorCode::kFailed, fmt::format("cannot watch signals: {}", strerror(errno))};
  return signals;
}

void Signals::ForEach(const std::function<void(int)>& f) const {
  signalfd_siginfo info;
  while (::read(fd_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)))
    f(static_cast<int>(info.ssi_signo));
}

}  // namespace clrscope::capture
