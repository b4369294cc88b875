// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <string>
#include <string_view>

#include "agent/gc_threads.h"
#include "clr/gc_thread_names.h"

namespace clrscope::agent {
namespace {

// The first bytes of a small file of /proc; "" when it is gone.
std::string_view ReadSmall(const std::string& path, char (&buffer)[64]) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t n = ::read(fd, buffer, sizeof buffer);
  ::close(fd);
  std::string_view text(buffer, n > 0 ? static_cast<size_t>(n) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

int64_t Clock(clockid_t clock) {
  timespec t{};
  if (::clock_gettime(clock, &t) != 0) return -1;
  return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

profile::IntervalCpu GcThreads::Take() {
  profile::IntervalCpu out;
  const bool first = round_++ == 0;
  const int64_t process = Clock(CLOCK_PROCESS_CPUTIME_ID);
  int64_t server = 0, background = 0;
  DIR* dir = ::opendir("/proc/self/task");
  if (dir == nullptr) return out;
  char buffer[64];
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    uint32_t id = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), id).ec != std::errc{}) continue;
    const std::string base = "/proc/self/task/" + std::string(name);
    const std::string_view comm = ReadSmall(base + "/comm", buffer);
    const bool is_server = comm == clr::kServerGcThread;
    const bool is_background = comm == clr::kBackgroundGcThread;
    if (!is_server && !is_background) continue;
    // The first number of schedstat: nanoseconds on a CPU.
    const std::string_view stat = ReadSmall(base + "/schedstat", buffer);
    int64_t ns = 0;
    if (std::from_chars(stat.data(), stat.data() + stat.size(), ns).ec != std::errc{}) continue;
    Thread& t = threads_[id];
    if (t.background != is_background || ns < t.ns) t = {};  // another thread of the same number
    t.background = is_background;
    (is_background ? background : server) += ns - t.ns;
    t.ns = ns;
    t.seen = round_;
  }
  ::closedir(dir);
  for (auto it = threads_.begin(); it != threads_.end();)
    it = it->second.seen == round_ ? std::next(it) : threads_.erase(it);
  if (!first) {
    out.process_ns = process - process_ns_;
    out.server_gc_ns = server;
    out.background_gc_ns = background;
  }
  process_ns_ = process;
  return out;
}

}  // namespace clrscope::agent
