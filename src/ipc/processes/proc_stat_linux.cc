// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "ipc/processes/proc_linux.h"
#include "ipc/processes/proc_stat.h"

namespace clrscope::ipc {

Result<ProcStat> ReadProcStat(pid_t pid) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(fmt::format("/proc/{}/stat", pid), 4096));
  return ParseProcStat(text);
}

uint64_t EnvironmentStart(pid_t pid) {
  constexpr int kAfterName = 3, kEnvironmentStart = 50;  // fields of stat
  const Result<std::string> stat = ReadFile(fmt::format("/proc/{}/stat", pid), 4096);
  if (!stat.ok() || stat->find(')') == std::string::npos) return 0;
  std::istringstream words(stat->substr(stat->rfind(')') + 1));
  std::string word;
  for (int field = kAfterName; field < kEnvironmentStart; ++field) words >> word;
  uint64_t start = 0;
  words >> start;
  return words ? start : 0;
}

double UptimeOf(uint64_t start_ticks) {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const double since_boot =
      static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
  const auto ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return std::max(0.0, since_boot - static_cast<double>(start_ticks) / ticks_per_s);
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
