// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/heartbeat_page.h"
#include "capture/agents/agent_heartbeat.h"
#include "capture/sessions/clock.h"
#include "ipc/processes/proc_linux.h"
#include "ipc/processes/proc_stat.h"

namespace clrscope::capture {
namespace {

// The agent's thread waits for no more than a second at a time.
constexpr std::chrono::milliseconds kLongestWait{1500};

// Whatever the process made of a file of that name: nothing that waits is opened, and nothing is
// mapped that may become shorter.
std::optional<HeartbeatState> ReadFile(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat file {};
  if (!fd.valid() || ::fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode) ||
      file.st_size < static_cast<off_t>(sizeof(HeartbeatPage)))
    return std::nullopt;
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return std::nullopt;
  void* at = ::mmap(nullptr, sizeof(HeartbeatPage), PROT_READ, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return std::nullopt;
  std::optional<HeartbeatState> state = ReadHeartbeatPage(*static_cast<const HeartbeatPage*>(at));
  (void)::munmap(at, sizeof(HeartbeatPage));
  return state;
}

}  // namespace

Result<AgentHeartbeat> ReadHeartbeat(pid_t pid) {
  const std::string folder = fmt::format("/proc/{}/fd/", pid);
  if (::access(folder.c_str(), R_OK) != 0 && errno == EACCES)
    return Error{ErrorCode::kPermission, fmt::format("{}: permission denied", folder)};
  // An agent that has let go may still have its own, until the runtime frees it.
  std::optional<HeartbeatState> latest;
  for (const std::string& name : ipc::ListFolder(folder)) {
    if (!ipc::ReadLink(folder + name).starts_with(HeartbeatPage::kLink)) continue;
    std::optional<HeartbeatState> state = ReadFile(folder + name);
    if (state && (!latest || state->begin_ns > latest->begin_ns)) latest = std::move(state);
  }
  if (!latest)
    return Error{ErrorCode::kNotFound, fmt::format("process {} has no clrscope agent", pid)};
  const int64_t now_ns = Clock::System().monotonic_ns();
  AgentHeartbeat beat;
  beat.call = std::move(latest->call);
  beat.in_call = latest->begin_ns != 0 && latest->end_ns == 0;
  beat.leaves = latest->leaves;
  beat.process_stopped = ipc::IsStopped(pid);
  const int64_t since_ns = beat.in_call ? latest->begin_ns : latest->end_ns;
  // In a time namespace of its own the process may have a later clock.
  if (since_ns != 0) beat.since = std::chrono::nanoseconds(std::max<int64_t>(0, now_ns - since_ns));
  return beat;
}

bool IsStuck(const AgentHeartbeat& beat, std::chrono::nanoseconds for_at_least) {
  return beat.process_stopped ||
         (beat.in_call && beat.call != HeartbeatPage::kWait && beat.since >= for_at_least);
}

std::string InWords(const AgentHeartbeat& beat) {
  const double seconds = std::chrono::duration<double>(beat.since).count();
  if (beat.process_stopped) return "the process is stopped, by a signal or a debugger";
  if (beat.call.empty()) return "its thread has made no call of the runtime yet";
  if (beat.call == HeartbeatPage::kWait && !beat.in_call)
    return fmt::format("its thread has made no call of the runtime since it woke up {:.1f} s ago",
                       seconds);
  if (beat.call == HeartbeatPage::kWait && beat.since < kLongestWait)
    return "its thread waits for something to do";
  if (beat.call == HeartbeatPage::kWait)
    return fmt::format("its thread has not run for {:.1f} s: does the process get CPU time?",
                       seconds);
  return beat.in_call ? fmt::format("its thread has been in {} for {:.1f} s", beat.call, seconds)
                      : fmt::format("the last call of its thread, {}, ended {:.1f} s ago",
                                    beat.call, seconds);
}

std::string HeartbeatSuffix(const Result<AgentHeartbeat>& beat) {
  if (beat.ok()) return ": " + InWords(*beat);
  if (beat.error().code == ErrorCode::kPermission)
    return fmt::format(": what its thread does cannot be read ({})", beat.error().message);
  return {};
}

}  // namespace clrscope::capture
