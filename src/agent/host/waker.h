// SPDX-License-Identifier: Apache-2.0
// Wakes the agent's thread from any other: once, until it has noticed.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "agent/host/agent_fd.h"

namespace clrscope::agent {

class Waker {
 public:
  Waker() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  void Wake() {
    if (IsForkedChild()) return;  // it would wake the parent's
    if (set_.load(std::memory_order_relaxed) || set_.exchange(true)) return;
    const uint64_t one = 1;
    (void)!::write(fd_.get(), &one, sizeof one);
  }
  void Clear() {
    uint64_t count;
    (void)!::read(fd_.get(), &count, sizeof count);
    set_.store(false);
  }
  int fd() const { return fd_.get(); }

 private:
  AgentFd fd_;
  std::atomic<bool> set_{false};
};

}  // namespace clrscope::agent
