// SPDX-License-Identifier: Apache-2.0
// Copies of threads' stacks with the registers that belong to them.
//
// A thread that blocks in a system call does not change: its stack is copied from outside, and it
// is not touched. A thread that runs is made to stand still (PTRACE_SEIZE, PTRACE_INTERRUPT) for as
// long as copying its own stack takes, one thread after the other. The kernel lets it go when
// clrscope ends, however that happens.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dac/wire.h"
#include "inspect/kernel_threads.h"
#include "inspect/target_memory.h"

namespace clrscope::inspect {

struct StackCopies {
  std::vector<dac::ThreadRegisters> registers;
  std::map<pid_t, KernelThread> seen;   // as they were when their stacks were copied
  std::map<pid_t, std::string> missed;  // why there is no copy
  uint64_t longest_stop_us = 0;
  uint32_t stopped = 0;
};

// Copies go into `memory`. Takes a limited time, whatever the threads do.
StackCopies CopyStacks(pid_t pid, const std::vector<dac::SnapshotThread>& threads,
                       TargetMemory& memory);

}  // namespace clrscope::inspect
