// SPDX-License-Identifier: Apache-2.0
// CPU time of this process and of the garbage collector's threads in it, by interval.
#pragma once

#include <cstdint>

#include "clr/gc_thread_clock.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::agent {

class GcThreads {
 public:
  // What the process and the collector's threads used since the last call; the first call says
  // nothing but where to count from.
  profile::IntervalCpu Take();
  bool IsGcThread(uint32_t thread) const { return threads_.IsGcThread(thread); }

 private:
  clr::GcThreadClock threads_{"/proc/self/task"};
  int64_t process_ns_ = -1;
};

}  // namespace clrscope::agent
