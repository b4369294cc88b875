// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "capture/kernel/perf_open.h"
#include "capture/kernel/trace_right.h"
#include "ipc/processes/proc_linux.h"

namespace clrscope::capture {
namespace {

constexpr const char* kCapability = "with the capability CAP_SYS_PTRACE";

pid_t TracerOf(pid_t thread) {
  const Result<ipc::ProcStatus> status = ipc::ReadProcStatus(thread);
  return status.ok() ? status->tracer_pid : 0;
}

// errno; 0: it may.
int OpenError(pid_t pid, const char* file) {
  return Fd(::open(fmt::format("/proc/{}/{}", pid, file).c_str(), O_RDONLY | O_CLOEXEC)).valid()
             ? 0
             : errno;
}

TraceRefusal Refused(std::string why, std::string fix) {
  return {ErrorCode::kPermission, std::move(why), std::move(fix)};
}

TraceRefusal RefusedByYama(int64_t scope, const std::string& process) {
  constexpr const char* kOff = "set kernel.yama.ptrace_scope to 0";
  const std::string is = fmt::format("kernel.yama.ptrace_scope is {}, so", scope);
  if (scope == 1)
    return Refused(fmt::format("{} only its parents may trace {}", is, process),
                   fmt::format("run clrscope {}, or {}", kCapability, kOff));
  if (scope == 2)
    return Refused(fmt::format("{} no other user than root may trace {}", is, process),
                   fmt::format("run clrscope {}, or {}", kCapability, kOff));
  return Refused(fmt::format("{} nobody may trace {}", is, process),
                 "boot the machine with another kernel.yama.ptrace_scope");
}

int64_t YamaScope() { return KernelSetting("yama/ptrace_scope", 0); }

// The agent could not name us elsewhere.
bool SharesPidNamespace(pid_t pid) {
  const std::string ours = ipc::ReadLink("/proc/self/ns/pid");
  return !ours.empty() && ours == ipc::ReadLink(fmt::format("/proc/{}/ns/pid", pid));
}

std::optional<TraceRefusal> RefusedBySeccomp() {
  constexpr pid_t kNoProcess = 0;
  if (::ptrace(PTRACE_INTERRUPT, kNoProcess, nullptr, nullptr) == 0 || errno == ESRCH)
    return std::nullopt;
  return Refused(
      fmt::format("a seccomp filter forbids clrscope to use ptrace ({})", std::strerror(errno)),
      "allow ptrace in the container's seccomp profile (with Docker: --cap-add SYS_PTRACE)");
}

// Who may look at it, and not trace it: modules have that rule.
TraceRefusal RefusedByModule(pid_t pid) {
  const int64_t scope = YamaScope();
  if (scope == 0)
    return Refused(
        fmt::format("a security module (SELinux, AppArmor) forbids clrscope to trace process {}",
                    pid),
        "allow ptrace in its policy");
  TraceRefusal refusal = RefusedByYama(scope, fmt::format("process {}", pid));
  refusal.by_yama = scope == 1 && SharesPidNamespace(pid);
  if (refusal.by_yama)
    refusal.fix +=
        fmt::format(", or load the agent, which allows it (`clrscope attach -p {}`)", pid);
  return refusal;
}

}  // namespace

Error TraceRefusal::error() const {
  return {code, fix.empty() ? why : fmt::format("{}; {}", why, fix)};
}

std::optional<TraceRefusal> WhyNobodyTraced(bool but_children) {
  if (auto refusal = RefusedBySeccomp()) return refusal;
  const int64_t scope = YamaScope();
  if (scope == 0 || (scope == 1 && but_children)) return std::nullopt;
  constexpr int64_t kNoCapabilityHelps = 3;
  const Result<ipc::ProcStatus> self = ipc::ReadProcStatus(::getpid());
  if (scope < kNoCapabilityHelps && self.ok() && (self->capabilities >> CAP_SYS_PTRACE & 1) != 0)
    return std::nullopt;
  return RefusedByYama(scope, "a process");
}

std::optional<TraceRefusal> WhyNotRead(pid_t pid) {
  const int error = OpenError(pid, "mem");
  if (error == 0) return std::nullopt;
  if (error == ESRCH || error == ENOENT)
    return TraceRefusal{ErrorCode::kNotFound, fmt::format("process {} has ended", pid), {}};
  if (error != EACCES && error != EPERM)
    return TraceRefusal{
        ErrorCode::kFailed,
        fmt::format("the memory of process {} cannot be opened: {}", pid, std::strerror(error)),
        {}};
  if (OpenError(pid, "maps") == 0) return RefusedByModule(pid);
  const Result<ipc::ProcStatus> status = ipc::ReadProcStatus(pid);
  if (status.ok() && status->uid != ::geteuid())
    return Refused(fmt::format("process {} is another user's, so clrscope may not trace it", pid),
                   fmt::format("run clrscope as its user, or {}", kCapability));
  return Refused(fmt::format("process {} has more rights than clrscope, or hides its memory "
                             "(PR_SET_DUMPABLE), so clrscope may not trace it",
                             pid),
                 fmt::format("run clrscope {}", kCapability));
}

std::optional<TraceRefusal> WhyNotTraced(pid_t pid) {
  if (auto refusal = WhyNotRead(pid)) return refusal;
  if (auto refusal = RefusedBySeccomp()) return refusal;
  const pid_t tracer = TracerOf(pid);
  if (tracer == 0) return std::nullopt;
  return Refused(fmt::format("process {} traces process {} already (gdb, strace), and a thread has "
                             "one tracer at a time",
                             tracer, pid),
                 "end that one");
}

Status MayTrace(pid_t pid) {
  if (const auto refusal = WhyNotTraced(pid)) return refusal->error();
  return OkStatus();
}

std::string WhyNoStop(pid_t thread, int error) {
  if (const pid_t tracer = TracerOf(thread); tracer != 0)
    return fmt::format("process {} traces it already (gdb, strace)", tracer);
  return fmt::format("it may not be stopped: {}", std::strerror(error));
}

}  // namespace clrscope::capture
