// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

#include "capture/sessions/thread_times.h"

namespace clrscope::capture {
namespace {

// The whole of a small file; nothing when the thread is gone.
std::string_view ReadSmall(int folder, const char* name, std::array<char, 1024>& room) {
  const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t n = read(fd, room.data(), room.size());
  close(fd);
  return n > 0 ? std::string_view(room.data(), static_cast<size_t>(n)) : std::string_view();
}

// Takes the next number of a line of such.
std::optional<int64_t> TakeNumber(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

void ReadParts(int tasks, const char* thread, analysis::CpuFold::ThreadTime& out) {
  std::array<char, 1024> room;
  std::string_view stat = ReadSmall(tasks, fmt::format("{}/stat", thread).c_str(), room);
  // The name, in parentheses, may have any character.
  const size_t name_end = stat.rfind(')');
  if (name_end == stat.npos) return;
  stat.remove_prefix(name_end + 1);
  constexpr int kBeforeUser = 11;  // from the state on: fields 3 to 13
  for (int i = 0; i < kBeforeUser; ++i) {
    const size_t next = stat.find(' ', stat.find_first_not_of(' '));
    if (next == stat.npos) return;
    stat.remove_prefix(next);
  }
  const auto user = TakeNumber(stat), system = TakeNumber(stat);
  if (!user || !system) return;
  out.user_ticks = *user;
  out.system_ticks = *system;
}

}  // namespace

ThreadTimes ReadThreadTimes(pid_t pid, bool parts) {
  ThreadTimes out;
  struct CloseFolder {
    void operator()(DIR* folder) const { closedir(folder); }
  };
  const std::unique_ptr<DIR, CloseFolder> folder(
      opendir(fmt::format("/proc/{}/task", pid).c_str()));
  if (folder == nullptr) return out;
  const int tasks = dirfd(folder.get());
  std::array<char, 1024> room;
  while (const dirent* entry = readdir(folder.get())) {
    std::string_view name = entry->d_name;
    const auto thread = TakeNumber(name);
    if (!thread) continue;
    std::string_view schedstat =
        ReadSmall(tasks, fmt::format("{}/schedstat", entry->d_name).c_str(), room);
    const auto ns = TakeNumber(schedstat);
    if (!ns) continue;
    auto& t = out.threads.emplace_back();
    t.thread = static_cast<uint64_t>(*thread);
    t.cpu_ns = *ns;
    if (parts) ReadParts(tasks, entry->d_name, t);
  }
  clockid_t clock;
  timespec time;
  if (clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &time) == 0)
    out.process_ns = int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  return out;
}

}  // namespace clrscope::capture
