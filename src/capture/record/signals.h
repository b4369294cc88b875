// SPDX-License-Identifier: Apache-2.0
// Signals through a descriptor, so that nothing happens in a handler.
#pragma once

#include <functional>

#include "base/fd.h"
#include "base/result.h"

namespace clrscope::capture {

class Signals {
 public:
  // Blocks SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGCHLD for this thread and those that it starts,
  // and ignores SIGPIPE.
  static Result<Signals> Take();

  int fd() const { return fd_.get(); }
  // Calls f(signal) for each that has arrived; never blocks.
  void ForEach(const std::function<void(int)>& f) const;

 private:
  Fd fd_;
};

}  // namespace clrscope::capture
