// SPDX-License-Identifier: Apache-2.0
// Owner of a descriptor that a child of fork() is not to keep.
#pragma once

#include <utility>

#include "agent/host/forked.h"
#include "base/fd.h"

namespace clrscope::agent {

class AgentFd {
 public:
  AgentFd() = default;
  explicit AgentFd(int fd) : fd_(fd) {
    if (fd >= 0) (void)CloseInChildren(fd);
  }
  AgentFd(AgentFd&&) noexcept = default;
  AgentFd& operator=(AgentFd&& o) noexcept {
    if (this != &o) {
      reset();
      fd_ = std::move(o.fd_);
    }
    return *this;
  }
  ~AgentFd() { reset(); }

  int get() const { return fd_.get(); }
  bool valid() const { return fd_.valid(); }
  void reset() {
    if (fd_.valid()) NotOurs(fd_.get());
    fd_.reset();
  }

 private:
  Fd fd_;
};

}  // namespace clrscope::agent
