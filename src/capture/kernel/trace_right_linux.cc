// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "capture/kernel/perf_open.h"
#include "capture/kernel/trace_right.h"
#include "ipc/processes/proc_linux.h"
#include "ipc/processes/proc_text.h"

namespace clrscope::capture {
namespace {

constexpr const char* kCapability = "with the capability CAP_SYS_PTRACE";

std::optional<ipc::ProcStatus> StatusOf(pid_t pid) {
  const Result<std::string> text = ipc::ReadFile(fmt::format("/proc/{}/status", pid), 16 << 10);
  if (!text.ok()) return std::nullopt;
  return ipc::ParseProcStatus(*text);
}

pid_t TracerOf(pid_t thread) {
  const auto status = StatusOf(thread);
  return status ? status->tracer_pid : 0;
}

bool MayOpen(pid_t pid, const char* file) {
  return Fd(::open(fmt::format("/proc/{}/{}", pid, file).c_str(), O_RDONLY | O_CLOEXEC)).valid();
}

TraceRefusal Refused(std::string why, std::string fix) {
  return {ErrorCode::kPermission, std::move(why), std::move(fix)};
}

// Of the scopes, and of other security modules.
TraceRefusal RefusedToTracers(pid_t pid) {
  switch (const int64_t scope = KernelSetting("yama/ptrace_scope", 0); scope) {
    case 0:
      return Refused(
          fmt::format("a security module (SELinux, AppArmor) forbids clrscope to trace process {}",
                      pid),
          "allow ptrace in its policy");
    case 1: {
      TraceRefusal refusal = Refused(
          fmt::format("kernel.yama.ptrace_scope is 1, so only its parents may trace process {}",
                      pid),
          fmt::format("run clrscope {}, set kernel.yama.ptrace_scope to 0, or load the agent, "
                      "which allows it (`clrscope attach -p {}`)",
                      kCapability, pid));
      refusal.by_yama = true;
      return refusal;
    }
    case 2:
      return Refused(
          fmt::format("kernel.yama.ptrace_scope is 2, so no other user than root may trace process "
                      "{}",
                      pid),
          fmt::format("run clrscope {}, or set kernel.yama.ptrace_scope to 0", kCapability));
    default:
      return Refused(
          fmt::format("kernel.yama.ptrace_scope is {}, so nobody may trace process {}", scope, pid),
          "boot the machine with another kernel.yama.ptrace_scope");
  }
}

}  // namespace

Error TraceRefusal::error() const {
  return {code, fix.empty() ? why : fmt::format("{}; {}", why, fix)};
}

std::optional<TraceRefusal> WhyNoPtrace() {
  constexpr pid_t kNobody = 0;
  if (::ptrace(PTRACE_INTERRUPT, kNobody, nullptr, nullptr) == 0 || errno == ESRCH)
    return std::nullopt;
  return Refused(
      fmt::format("a seccomp filter forbids clrscope to use ptrace ({})", std::strerror(errno)),
      "allow ptrace in the container's seccomp profile (with Docker: --cap-add SYS_PTRACE)");
}

std::optional<TraceRefusal> WhyNotRead(pid_t pid) {
  if (MayOpen(pid, "mem")) return std::nullopt;
  // What only forbids to trace lets us look.
  if (MayOpen(pid, "maps")) return RefusedToTracers(pid);
  const auto status = StatusOf(pid);
  if (!status)
    return TraceRefusal{ErrorCode::kNotFound, fmt::format("there is no process {}", pid), {}};
  if (status->uid != ::geteuid())
    return Refused(fmt::format("process {} is another user's, so clrscope may not trace it", pid),
                   fmt::format("run clrscope as its user, or {}", kCapability));
  return Refused(fmt::format("process {} has more rights than clrscope, or hides its memory "
                             "(PR_SET_DUMPABLE), so clrscope may not trace it",
                             pid),
                 fmt::format("run clrscope {}", kCapability));
}

std::optional<TraceRefusal> WhyNotTraced(pid_t pid) {
  if (auto refusal = WhyNotRead(pid)) return refusal;
  if (auto refusal = WhyNoPtrace()) return refusal;
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
