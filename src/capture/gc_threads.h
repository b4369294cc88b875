// SPDX-License-Identifier: Apache-2.0
// The CPU time of the GC's own threads (clr/gc_thread_names.h), seen from outside: /proc/PID/task.
// Blocking collections of workstation GC run on the thread that allocates: no system tells their
// share.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/gc_record.h"

namespace clrscope::capture {

// The name and the CPU time in clock ticks of /proc/PID/task/TID/stat, whose name may hold spaces
// and parentheses. Returns false for other text.
bool ParseTaskStat(std::string_view stat, std::string_view* name, uint64_t* ticks);

class GcThreads {
 public:
  // `proc`: where /proc is, another place for tests.
  explicit GcThreads(pid_t pid, const std::string& proc = "/proc");

  // Reads what they used since the first call, or the last Restart(). Leaves `facts` as they are
  // when the process is gone.
  void Read(int64_t now_ns, profile::GcFacts& facts);
  // Counts anew from what was read last.
  void Restart(int64_t now_ns);

 private:
  enum class Kind : uint8_t { kOther, kServer, kBackground };
  struct Thread {
    pid_t tid = 0;
    Kind kind = Kind::kOther;
    int looks = 0;         // a thread gets its name only after it has begun
    uint64_t cpu_ns = 0;   // as read last
    uint64_t from_ns = 0;  // what it had used before
    bool seen = false;
  };
  bool ReadThread(Thread& thread) const;

  pid_t pid_;
  std::string tasks_, stat_;
  std::vector<Thread> threads_;  // by tid
  bool began_ = false;
  uint64_t process_ns_ = 0, process_from_ns_ = 0;
  int64_t from_ns_ = 0;
};

}  // namespace clrscope::capture
