// SPDX-License-Identifier: Apache-2.0
// CPU time of the garbage collector's own threads, by their names.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "profile/interval_frame.h"

namespace clrscope::agent {

class GcThreads {
 public:
  // What the process and the collector's threads used since the last call; the first call says
  // nothing but where to count from. A thread that began since then counts from 0; what one used
  // after the last call before it ended is lost.
  profile::IntervalCpu Take();
  bool IsGcThread(uint32_t thread) const { return threads_.contains(thread); }

 private:
  struct Thread {
    bool background = false;
    int64_t ns = 0;
    uint64_t seen = 0;
  };
  std::unordered_map<uint32_t, Thread> threads_;
  int64_t process_ns_ = -1;
  uint64_t round_ = 0;
};

}  // namespace clrscope::agent
