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
  int number = -1;     // kInside
  bool timed = false;  // a wait (futex) that gives up after a time
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

// Percent of a CPU that a thread would use if it never had to wait for one: its time on a CPU, of
// the time in which it did not wait for one. A thread that sleeps most of its time, and waits long
// for a CPU each time it wakes (a container at its quota), has a small demand. The kernel counts a
// wait for a CPU when it is over: a thread that could run both times and did not block in between
// has a demand of 100. 0 where it ran for less than 1 % of the time between the two looks.
double DemandPercent(const KernelThread& before, const KernelThread& now, double elapsed_ns);

// Whether a thread waited for a CPU from one look to the other, so that what it does is not known.
bool HadNoCpu(const KernelThread& before, const KernelThread& now);

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
