// SPDX-License-Identifier: Apache-2.0
// What the kernel says of the threads of a process. Source: proc(5),
// Documentation/scheduler/sched-stats
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace clrscope::inspect {

// The text of /proc/PID/task/TID/syscall.
struct SystemCall {
  enum class Kind : uint8_t { kUnknown, kRunning, kInside, kOutside };
  Kind kind = Kind::kUnknown;
  int number = -1;  // kInside
  uint64_t sp = 0, pc = 0;
  bool operator==(const SystemCall&) const = default;
};
SystemCall ParseSystemCall(std::string_view text);

struct KernelThread {
  std::string name;
  char state = '?';
  uint64_t cpu_ns = 0;    // on a CPU
  uint64_t delay_ns = 0;  // it could have run
  uint64_t switches = 0;  // how many times it was given a CPU
  SystemCall call;
};

class KernelThreads {
 public:
  explicit KernelThreads(pid_t pid);
  bool valid() const { return tasks_.valid(); }
  // All threads, at most `limit`.
  std::map<pid_t, KernelThread> Read(size_t limit) const;
  KernelThread ReadOne(pid_t thread) const;
  // Its number in the innermost pid namespace that it is in.
  pid_t InnerId(pid_t thread) const;

 private:
  Fd tasks_;
  std::string path_;
};

}  // namespace clrscope::inspect
