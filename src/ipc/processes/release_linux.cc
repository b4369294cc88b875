// SPDX-License-Identifier: Apache-2.0
// Disarm, resume, and the sweep over all that wait.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "ipc/processes/clr_config.h"
#include "ipc/processes/proc_linux.h"
#include "ipc/processes/proc_stat.h"
#include "ipc/processes/proc_text.h"
#include "ipc/processes/release.h"
#include "ipc/protocol/client.h"

namespace clrscope::ipc {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kPorts = "DOTNET_DiagnosticPorts";
constexpr std::string_view kSuspend = ",suspend", kNoSuspend = ",nosuspend";
constexpr size_t kMostEnvironment = size_t{16} << 20;

Result<std::string> EnvironmentOf(pid_t pid) {
  return ReadFile(fmt::format("/proc/{}/environ", pid), kMostEnvironment);
}

void DisarmNative(pid_t pid, const std::string& path) {
  const Result<std::string> environment = EnvironmentOf(pid);
  const uint64_t start = EnvironmentStart(pid);
  if (!environment.ok() || start == 0) return;
  const std::string armed = fmt::format("{}{}{}", path, kSuspend, kRoomToDisarm);
  static_assert(kSuspend.size() + kRoomToDisarm.size() == kNoSuspend.size());
  const Fd memory(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDWR | O_CLOEXEC));
  if (!memory.valid()) return;
  for (size_t at = environment->find(armed); at != std::string::npos;
       at = environment->find(armed, at + armed.size())) {
    const auto begin = static_cast<off_t>(start + at + path.size());
    // It may have moved since: by setproctitle, or an exec.
    std::string there(kNoSuspend.size(), '\0');
    if (::pread(memory.get(), there.data(), there.size(), begin) ==
            static_cast<ssize_t>(there.size()) &&
        there == armed.substr(path.size()))
      (void)!::pwrite(memory.get(), kNoSuspend.data(), kNoSuspend.size(), begin);
  }
}

}  // namespace

std::optional<bool> WaitsAt(pid_t pid, const std::string& path) {
  const Result<std::string> environment = EnvironmentOf(pid);
  if (!environment.ok()) return std::nullopt;
  const auto ports = FindVariable(SplitNul(*environment), kPorts);
  if (!ports) return false;
  const std::vector<DiagnosticPort> all = ParsePorts(*ports);
  return std::any_of(all.begin(), all.end(), [&path](const DiagnosticPort& port) {
    return port.path == path && port.suspend;
  });
}

Status DisarmChildren(ReverseServer& server, const ReverseRuntime& runtime, Deadline deadline) {
  DisarmNative(runtime.pid, server.path());
  ReverseTransport transport(server, runtime);
  Client client(transport);
  ASSIGN_OR_RETURN(const Environment environment, client.GetEnvironment(deadline));
  std::string ports;
  for (const auto& [name, value] : environment)
    if (name == kPorts) ports = value;
  return client.SetEnvironmentVariable(kPorts, WithPort(ports, server.path(), false), deadline);
}

Status Release(ReverseServer& server, const ReverseRuntime& runtime, milliseconds patience) {
  const Status disarmed = DisarmChildren(server, runtime, Deadline::After(patience));
  ReverseTransport transport(server, runtime);
  const Status resumed = Client(transport).ResumeRuntime(Deadline::After(patience));
  return disarmed.ok() ? resumed : disarmed;
}

std::vector<ReverseRuntime> ReleaseAll(ReverseServer& server, std::vector<ReverseRuntime>& waiting,
                                       Status* error, milliseconds patience) {
  std::vector<ReverseRuntime> released;
  std::erase_if(waiting, [&](const ReverseRuntime& runtime) {
    if (runtime.pid != 0 && IsStopped(runtime.pid)) return false;
    const Status status = Release(server, runtime, patience);
    if (status.ok()) released.push_back(runtime);
    if (status.ok() || (runtime.pid != 0 && IsEnding(runtime.pid, milliseconds(0)))) return true;
    if (error != nullptr && error->ok()) *error = status;
    return false;
  });
  return released;
}

}  // namespace clrscope::ipc
