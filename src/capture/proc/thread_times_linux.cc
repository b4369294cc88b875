// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fmt/format.h>
#include <time.h>

#include <charconv>
#include <memory>
#include <string_view>

#include "base/proc_stat.h"
#include "base/thread_file.h"
#include "capture/proc/thread_times.h"
#include "ipc/processes/proc_linux.h"

namespace clrscope::capture {
namespace {

// The number that a text begins with.
template <class Number>
bool ParseFirst(std::string_view text, Number& out) {
  return std::from_chars(text.data(), text.data() + text.size(), out).ec == std::errc{};
}

}  // namespace

int64_t ProcessCpuNs(pid_t pid) {
  clockid_t clock;
  timespec time;
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return -1;
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

ThreadTimes ReadThreadTimes(pid_t pid, bool parts) {
  ThreadTimes out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(
      ::opendir(fmt::format("/proc/{}/task", pid).c_str()), &::closedir);
  if (!folder) return out;
  const int tasks = ::dirfd(folder.get());
  char room[1024];
  while (const dirent* entry = ::readdir(folder.get())) {
    analysis::CpuFold::ThreadTime t;
    if (!ParseFirst(entry->d_name, t.thread) ||
        !ParseFirst(ReadThreadFile(tasks, t.thread, "schedstat", room), t.cpu_ns))
      continue;
    StatFields stat;
    if (parts && ParseStat(ReadThreadFile(tasks, t.thread, "stat", room), &stat) &&
        stat.cpu_ticks >= 0) {
      t.system_ticks = stat.system_ticks;
      t.user_ticks = stat.cpu_ticks - stat.system_ticks;
    }
    out.threads.push_back(t);
  }
  out.process_ns = ProcessCpuNs(pid);
  return out;
}

std::optional<ProcessTicks> ReadProcessTicks(pid_t pid) {
  constexpr size_t kMostBytes = 4096;
  const Result<std::string> text = ipc::ReadFile(fmt::format("/proc/{}/stat", pid), kMostBytes);
  StatFields stat;
  if (!text.ok() || !ParseStat(*text, &stat) || stat.cpu_ticks < 0) return std::nullopt;
  return ProcessTicks{stat.cpu_ticks, stat.system_ticks};
}

std::optional<double> ProcessCpuSeconds(pid_t pid) {
  const int64_t ns = ProcessCpuNs(pid);
  if (ns < 0) return std::nullopt;
  return static_cast<double>(ns) / 1e9;
}

}  // namespace clrscope::capture
