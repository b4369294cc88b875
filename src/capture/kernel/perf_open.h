// SPDX-License-Identifier: Apache-2.0
// Opens events of the kernel's sampler, and says why it refuses. Source: perf_event_open(2)
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

struct perf_event_attr;

namespace clrscope::capture {

// What an event is asked for. What a kernel does not know or does not allow is left out, see
// PerfOpener.
struct PerfWish {
  uint64_t period_ns = 0;
  uint32_t stack_bytes = 0;  // a multiple of 8
  bool kernel = true;        // samples of time in the kernel
  bool kernel_chain = true;  // and who called there
  bool only_threads = true;  // threads inherit, forked processes do not: from Linux 5.13
  bool tells_lost = true;    // read(2) tells what was lost: from Linux 6.0
  bool whole_cpu = false;    // whatever runs there; of no thread
};

// The first event of the target decides what all others are opened with.
class PerfOpener {
 public:
  explicit PerfOpener(PerfWish wish) : wish_(wish) {}

  // An event of one thread on one CPU, inherited by the threads that it makes; it counts from now
  // on. An invalid Fd: see errno.
  Fd Open(pid_t tid, int cpu);
  // The owner of a buffer: an event of this thread that never happens.
  static Fd OpenHolder(int cpu);

  const PerfWish& wish() const { return wish_; }
  void HalveStacks() { wish_.stack_bytes = wish_.stack_bytes / 16 * 8; }

 private:
  // Leaves out what may be why `error` came. Returns false when there is nothing.
  bool Relax(int error);

  PerfWish wish_;
  bool settled_ = false;
};

// Why the sampler does not start. `own`: even an event of this process itself was refused.
Error PerfRefused(int error, pid_t pid, bool own);
// `most`: of descriptors, that clrscope opens.
Error PerfNoDescriptors(size_t threads, size_t cpus, size_t most);
Error PerfNoMemory();

// A number in a file of /proc/sys/kernel; `otherwise` when it cannot be read.
int64_t KernelSetting(const char* name, int64_t otherwise);

// "0-3,8": the numbers; empty when it is no such list. At most `most`.
std::vector<int> ParseCpuList(std::string_view text, size_t most = 4096);
// Of CPUs that run now.
std::vector<int> OnlineCpus();

// The threads of a process, ascending; empty: see errno, ESRCH when it is gone.
std::vector<pid_t> ThreadsOf(pid_t pid);

// Raises this process's soft limit of descriptors to the hard one. Returns whether it grew.
bool RaiseDescriptorLimit();

}  // namespace clrscope::capture
