// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "capture/kernel/perf_open.h"
#include "capture/kernel/thread_look.h"

namespace clrscope::capture {

int64_t ClockNow(clockid_t clock) {
  timespec t{};
  (void)::clock_gettime(clock, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

Fd OpenOfThread(int tasks, pid_t thread, const char* file) {
  const auto open = [&] {
    return Fd(::openat(tasks, fmt::format("{}/{}", thread, file).c_str(), O_RDONLY | O_CLOEXEC));
  };
  Fd fd = open();
  if (!fd.valid() && errno == EMFILE && RaiseDescriptorLimit()) fd = open();
  return fd;
}

std::string_view ReadAgain(const Fd& file, std::span<char> room) {
  const ssize_t n = file.valid() ? ::pread(file.get(), room.data(), room.size(), 0) : -1;
  return {room.data(), n > 0 ? static_cast<size_t>(n) : 0};
}

// The directory has a link for each thread and two of its own.
// Source: Linux fs/proc/base.c, proc_task_getattr
bool HasThreads(int tasks, size_t known) {
  struct stat folder {};
  return ::fstat(tasks, &folder) == 0 && folder.st_nlink == known + 2;
}

bool ParseSchedule(std::string_view text, ScheduleTimes& out) {
  const char* at = text.data();
  const char* const end = at + text.size();
  auto r = std::from_chars(at, end, out.ran_ns);
  if (r.ec != std::errc{} || r.ptr == end) return false;
  r = std::from_chars(r.ptr + 1, end, out.ready_ns);
  if (r.ec != std::errc{} || r.ptr == end) return false;
  return std::from_chars(r.ptr + 1, end, out.turns).ec == std::errc{};
}

bool SleepUntil(int64_t until_ns, int64_t most_ns) {
  const int64_t left = until_ns - ClockNow(CLOCK_MONOTONIC);
  if (left <= 0) return true;
  const int64_t pause_ns = std::min(left, most_ns);
  const timespec pause{pause_ns / 1'000'000'000, pause_ns % 1'000'000'000};
  (void)::nanosleep(&pause, nullptr);
  return left <= pause_ns;
}

}  // namespace clrscope::capture
