// SPDX-License-Identifier: Apache-2.0
// What the kernel says of the threads of a process. Source: proc(5),
// Documentation/scheduler/sched-stats
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "ipc/processes/proc_text.h"

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
  uint64_t cpu_ns = 0;              // on a CPU
  uint64_t delay_ns = 0;            // it could have run
  uint64_t switches = 0;            // how many times it was given a CPU
  std::optional<uint64_t> blocked;  // how many times it gave its CPU up to wait; only of one that
                                    // could run (R), by Read()
  SystemCall call;
};

// Percent of the time between two looks at a thread in which it ran or could have. The kernel's
// sums lack a wait for a CPU that goes on: who could run both times and did not block between them
// could all along, however rarely a busy machine let it.
double WantPercent(const KernelThread& before, const KernelThread& now, double elapsed_ns);

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
  ipc::ProcStatus StatusOf(pid_t thread) const;
  // How many times a thread gave its CPU up to wait, if it can run now.
  std::optional<uint64_t> Blocked(pid_t thread) const;

  Fd tasks_;
  std::string path_;
};

}  // namespace clrscope::inspect
