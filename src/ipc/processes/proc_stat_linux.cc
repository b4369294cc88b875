// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <thread>

#include "ipc/processes/proc_linux.h"
#include "ipc/processes/proc_stat.h"

namespace clrscope::ipc {

Result<ProcStat> ReadProcStat(pid_t pid) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(fmt::format("/proc/{}/stat", pid), 4096));
  return ParseProcStat(text);
}

bool IsStopped(pid_t pid) {
  const Result<ProcStat> stat = ReadProcStat(pid);
  return stat.ok() && (stat->state == 'T' || stat->state == 't');
}

bool IsEnding(pid_t pid, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const Result<ProcStat> stat = ReadProcStat(pid);
    if (!stat.ok() || HasEnded(stat->state)) return true;
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace clrscope::ipc
