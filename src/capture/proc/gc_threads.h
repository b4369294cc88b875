// SPDX-License-Identifier: Apache-2.0
// The CPU time of a process and of its collector's threads, seen from outside: /proc/PID.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "clr/gc_thread_clock.h"
#include "profile/gc/gc_record.h"

namespace clrscope::capture {

class GcThreads {
 public:
  // `proc`: where /proc is, another place for tests.
  explicit GcThreads(pid_t pid, const std::string& proc = "/proc");

  // Reads what they used since the first call, or the last Restart(). Leaves `facts` as they are
  // when the process is gone.
  void Read(int64_t now_ns, profile::GcFacts& facts);
  // As of the last Read().
  bool IsGcThread(uint64_t thread) const {
    return threads_.IsGcThread(static_cast<uint32_t>(thread));
  }
  // Counts anew from what was read last.
  void Restart(int64_t now_ns);

 private:
  std::string stat_;
  clr::GcThreadClock threads_;
  bool began_ = false;
  int64_t process_ns_ = 0, process_from_ns_ = 0;
  int64_t from_ns_ = 0;
};

}  // namespace clrscope::capture
