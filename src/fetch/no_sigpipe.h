// SPDX-License-Identifier: Apache-2.0
// Keeps writes to a connection that the peer has closed from ending this process, on this thread:
// OpenSSL writes without MSG_NOSIGNAL.
#pragma once

#include <signal.h>

#include <ctime>

namespace clrscope::fetch {

class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    constexpr timespec kNow{};
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &kNow) == SIGPIPE) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

}  // namespace clrscope::fetch
