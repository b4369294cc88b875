// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "base/fd.h"
#include "base/heartbeat_page.h"
#include "capture/agents/agent_heartbeat.h"
#include "ipc/processes/proc_linux.h"
#include "ipc/processes/proc_stat.h"

namespace clrscope::capture {
namespace {

constexpr int kTries = 1000;  // a writer that is stopped half way leaves an odd number for good

// Whatever the process made of a file of that name: nothing that waits is opened.
bool ReadPage(const std::string& path, HeartbeatPage& page) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat file {};
  if (!fd.valid() || ::fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode)) return false;
  const auto read = [&] {
    return ::pread(fd.get(), &page, sizeof page, 0) == sizeof page &&
           page.magic == HeartbeatPage::kMagic;
  };
  for (int i = 0; i < kTries && read(); ++i) {
    const uint64_t sequence = page.sequence.load();
    if (!read()) return false;
    if (sequence % 2 == 0 && page.sequence.load() == sequence) return true;
  }
  return false;
}

bool FindPage(pid_t pid, HeartbeatPage& page) {
  const std::string target = std::string("/memfd:") + HeartbeatPage::kFileName;
  const std::string folder = fmt::format("/proc/{}/fd/", pid);
  for (const std::string& name : ipc::ListFolder(folder))
    if (ipc::ReadLink(folder + name).starts_with(target) && ReadPage(folder + name, page))
      return true;
  return false;
}

std::string Words(const AgentHeartbeat& beat, bool stopped) {
  const double seconds = std::chrono::duration<double>(beat.since).count();
  if (stopped) return "the process is stopped, by a signal or a debugger";
  if (beat.call.empty()) return "its thread has made no call of the runtime yet";
  if (beat.call == HeartbeatPage::kWait)
    return beat.in_call ? fmt::format(
                              "its thread has not run for {:.1f} s; does the process get "
                              "CPU time?",
                              seconds)
                        : fmt::format(
                              "its thread came out of its wait {:.1f} s ago, and has made "
                              "no call of the runtime since",
                              seconds);
  return beat.in_call ? fmt::format("its thread has been in {} for {:.1f} s", beat.call, seconds)
                      : fmt::format("the last call of its thread, {}, ended {:.1f} s ago",
                                    beat.call, seconds);
}

}  // namespace

std::optional<AgentHeartbeat> ReadHeartbeat(pid_t pid) {
  HeartbeatPage page;
  if (!FindPage(pid, page)) return std::nullopt;
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto now_ns = std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  const char* name = reinterpret_cast<const char*>(page.name.data());
  AgentHeartbeat beat;
  beat.call.assign(name, ::strnlen(name, HeartbeatPage::kNameBytes));
  beat.in_call = page.begin_ns.load() != 0 && page.end_ns.load() == 0;
  const int64_t since = beat.in_call ? page.begin_ns.load() : page.end_ns.load();
  if (since != 0) beat.since = now_ns - std::chrono::nanoseconds(since);
  return beat;
}

bool IsStuck(pid_t pid, std::chrono::nanoseconds for_at_least) {
  if (ipc::IsStopped(pid)) return true;
  const std::optional<AgentHeartbeat> beat = ReadHeartbeat(pid);
  return beat.has_value() && beat->in_call && beat->call != HeartbeatPage::kWait &&
         beat->since >= for_at_least;
}

std::string DescribeHeartbeat(pid_t pid) {
  const std::optional<AgentHeartbeat> beat = ReadHeartbeat(pid);
  if (!beat.has_value()) return {};
  return Words(*beat, ipc::IsStopped(pid));
}

}  // namespace clrscope::capture
