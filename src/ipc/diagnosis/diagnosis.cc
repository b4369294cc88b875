// SPDX-License-Identifier: Apache-2.0
// The judgement: facts in, checks out. Each function looks at one matter.
#include "ipc/diagnosis/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ipc/processes/clr_config.h"
#include "ipc/processes/proc_text.h"

namespace clrscope::ipc {
namespace {

class Checks {
 public:
  void Ok(std::string name, std::string what) {
    list_.push_back({std::move(name), Verdict::kOk, std::move(what), "", {}});
  }
  void Warn(std::string name, std::string what, std::string fix) {
    list_.push_back({std::move(name), Verdict::kWarn, std::move(what), std::move(fix), {}});
  }
  void Fail(std::string name, ErrorCode code, std::string what, std::string fix) {
    list_.push_back({std::move(name), Verdict::kFail, std::move(what), std::move(fix), code});
  }
  bool Failed(std::string_view name) const {
    return std::any_of(list_.begin(), list_.end(), [name](const Check& c) {
      return c.name == name && c.verdict == Verdict::kFail;
    });
  }
  std::vector<Check> Take() { return std::move(list_); }

 private:
  std::vector<Check> list_;
};

bool MayUse(const ProcessFacts& facts, uid_t us) { return us == 0 || us == facts.uid; }

void CheckRuntime(const ProcessFacts& facts, Checks& out) {
  switch (facts.runtime) {
    case RuntimeKind::kNone:
      out.Fail("runtime", ErrorCode::kNotDotnet,
               fmt::format("process {} ({}) is not a .NET process", facts.pid, facts.comm),
               "`clrscope ps` lists those that are");
      return;
    case RuntimeKind::kCoreClr:
      out.Ok("runtime", fmt::format("runs {}", facts.coreclr_path));
      return;
    case RuntimeKind::kSingleFile:
      out.Ok("runtime", "is a single-file application with the runtime inside");
      return;
    case RuntimeKind::kNativeAot:
      if (facts.socket_path.empty())
        out.Fail("runtime", ErrorCode::kRefused,
                 "was compiled with NativeAOT and has no diagnostics socket",
                 "publish it with <EventSourceSupport>true</EventSourceSupport>, or without "
                 "PublishAot");
      else
        out.Warn(
            "runtime",
            "was compiled with NativeAOT: its events have no stacks, and allocations no names "
            "of types; collections, samples of CPU and wall time (--cpu, --wall) and the types "
            "of exceptions are complete",
            "profile a build without PublishAot to see who allocates");
      return;
    case RuntimeKind::kUndetermined:
      out.Ok("runtime", "is .NET; which kind cannot be seen from here");
      return;
  }
}

void CheckUser(const ProcessFacts& facts, uid_t us, Checks& out) {
  if (MayUse(facts, us)) {
    out.Ok("user", us == facts.uid ? "runs as the same user as clrscope" : "clrscope is root");
    return;
  }
  out.Fail("user", ErrorCode::kPermission,
           fmt::format("belongs to user {}, and clrscope runs as user {}: only its owner and root "
                       "may use its diagnostics socket",
                       facts.uid, us),
           fmt::format("run `sudo clrscope …` or `sudo -u '#{}' clrscope …`", facts.uid));
}

void CheckSwitchedOff(const ProcessFacts& facts, Checks& out) {
  // One that has its socket may be older than the variable.
  const std::string by =
      facts.socket_path.empty() ? SwitchedOffBy(facts.environ, kIpc) : std::string();
  if (!by.empty())
    out.Fail("diagnostics", ErrorCode::kRefused,
             fmt::format("has its diagnostics switched off by {}", by),
             "start it again without that variable; a running process cannot be changed");
  else if (facts.environ_readable)
    out.Ok("diagnostics", "diagnostics are switched on");
}

void CheckNamespaces(const ProcessFacts& facts, Checks& out) {
  if (facts.other_mount_namespace)
    out.Ok("namespace", fmt::format("runs in a container (it sees itself as process {}); clrscope "
                                    "reaches its files through {}",
                                    facts.inner_pid, facts.root));
  else if (facts.other_pid_namespace)
    out.Ok("namespace",
           fmt::format("runs in another pid namespace, as process {}", facts.inner_pid));
}

void CheckTmpDir(const ProcessFacts& facts, Checks& out) {
  if (facts.socket_name_too_long)
    out.Fail("tmpdir", ErrorCode::kRefused,
             fmt::format(
                 "has a TMPDIR ({}) that is too long: the runtime makes no socket where the path "
                 "would have more than 107 bytes",
                 facts.tmp_dir),
             "start it with a shorter TMPDIR");
  else if (!facts.tmp_dir_exists)
    out.Fail(
        "tmpdir", ErrorCode::kRefused,
        fmt::format("has a TMPDIR ({}) that does not exist, so the runtime could make no socket",
                    facts.tmp_dir),
        "create the folder and start it again");
  else if (facts.tmp_dir != "/tmp/")
    out.Ok("tmpdir", fmt::format("keeps its socket in {}", facts.tmp_dir));
}

// Without its root neither its socket, where it has a /tmp of its own, nor its memory can be seen.
// Our own user is enough where the groups are the same and it has no capability that we lack.
void CheckReach(const ProcessFacts& facts, uid_t us, Checks& out) {
  const std::string why =
      us == facts.uid ? fmt::format(
                            "it is of group {}, or has capabilities that clrscope lacks, or is not "
                            "dumpable",
                            facts.gid)
                      : fmt::format(
                            "it belongs to user {}, and clrscope is root without the capability "
                            "SYS_PTRACE",
                            facts.uid);
  const std::string as_user = fmt::format(
      "run clrscope as user {}, group {} (Kubernetes: securityContext: {{runAsUser: "
      "{}, runAsGroup: {}}}), or with SYS_PTRACE (securityContext: {{capabilities: "
      "{{add: [SYS_PTRACE]}}}})",
      facts.uid, facts.gid, facts.uid, facts.gid);
  if (facts.socket_path.empty())
    out.Fail("reach", ErrorCode::kPermission, "cannot be reached through /proc: " + why,
             as_user + "; or mount the folder of its socket, /tmp, into clrscope's container too");
  else
    out.Warn("reach",
             "can be recorded, but its memory and files cannot be read: " + why +
                 "; stacks of CPU time may lack callers, and native code its names",
             as_user);
}

void CheckSocket(const ProcessFacts& facts, Checks& out) {
  if (!facts.socket_path.empty()) {
    out.Ok("socket", facts.socket_path);
    return;
  }
  if (!facts.stale_sockets.empty())
    out.Fail("socket", ErrorCode::kRefused,
             fmt::format("has no socket of its own; {} was left behind by an earlier process with "
                         "the same pid",
                         facts.stale_sockets.front()),
             "delete that file; if the process is older than a few seconds, start it again");
  else if (facts.uptime_s < 2)
    out.Fail("socket", ErrorCode::kRefused, "has no diagnostics socket yet: it has just started",
             "try again in a second");
  else
    out.Fail("socket", ErrorCode::kRefused,
             fmt::format("has no diagnostics socket in {}{}", facts.root, facts.tmp_dir),
             facts.environ_readable
                 ? "somebody cleaned that folder, or diagnostics are off; start it again"
                 : "its TMPDIR cannot be read; run clrscope as root");
}

void CheckState(const ProcessFacts& facts, Checks& out) {
  if (facts.state == 'T')
    out.Fail("state", ErrorCode::kTimeout, "is stopped (SIGSTOP) and cannot answer",
             fmt::format("continue it: kill -CONT {}", facts.pid));
  else if (facts.state == 't')
    out.Fail("state", ErrorCode::kTimeout, "is held by a debugger and cannot answer",
             "continue it there");
}

void CheckStart(const ProcessFacts& facts, Checks& out) {
  if (!facts.suspended_at_start()) return;
  std::string who = "DOTNET_DefaultDiagnosticPortSuspend";
  const std::string ports = FindClrVariable(facts.environ, "DiagnosticPorts").value_or("");
  for (const DiagnosticPort& port : ParsePorts(ports))
    if (port.suspend) who = fmt::format("DOTNET_DiagnosticPorts={}", ports);
  if (facts.uptime_s < 2 && ports.empty() &&
      FindClrNumber(facts.environ, "DefaultDiagnosticPortSuspend").value_or(0) == 0)
    out.Warn("start", "is just starting", "");
  else if (!facts.unheard_ports.empty())
    out.Warn("start",
             fmt::format("waits at its start to be resumed ({}), and nobody listens at {}", who,
                         facts.unheard_ports.front()),
             fmt::format("start the tool that listens there, or resume it: `clrscope doctor {} "
                         "--resume`; without that variable it would not wait",
                         facts.pid));
  else if (!ports.empty())
    out.Warn("start", fmt::format("waits at its start to be resumed ({})", who),
             "a recording can start now; the program runs once that port's owner resumes it");
  else
    out.Warn(
        "start", fmt::format("waits at its start to be resumed ({})", who),
        fmt::format("start a recording, then resume it: `clrscope doctor {} --resume`", facts.pid));
}

// Who it is about is said before it.
std::string WithoutProcess(const std::string& message, pid_t pid) {
  const std::string prefix = fmt::format("process {}: ", pid);
  return "cannot be asked: " +
         (message.starts_with(prefix) ? message.substr(prefix.size()) : message);
}

void CheckAnswer(const ProcessFacts& facts, const Result<ProcessInfo>& answer, Checks& out) {
  if (answer.ok()) {
    out.Ok("answer", "answers");
    return;
  }
  const Error& error = answer.error();
  if (error.code == ErrorCode::kTimeout)
    out.Fail("answer", ErrorCode::kTimeout, "does not answer in time",
             "another tool's session that nobody reads can block it: end that tool; or the machine "
             "is overloaded: try again");
  else if (error.code == ErrorCode::kPermission)
    out.Fail("answer", ErrorCode::kPermission, error.message,
             "run clrscope as the process's owner or as root");
  else if (error.code == ErrorCode::kNotFound)
    out.Fail("answer", ErrorCode::kNotFound,
             fmt::format("nobody listens at {} any more: the process is ending", facts.socket_path),
             "");
  else if (error.code == ErrorCode::kRefused)  // .NET Core 3 knows no ProcessInfo
    out.Warn("answer", "is older than .NET 5 and tells nothing about itself", "");
  else
    out.Fail("answer", error.code, WithoutProcess(error.message, facts.pid), "");
}

void CheckVersion(const ProcessFacts& facts, const std::string& version, Checks& out) {
  const int major = MajorVersion(version);
  if (major == 0) return;
  // What its samples lack is said of its runtime.
  if (facts.runtime == RuntimeKind::kNativeAot && major >= 8)
    out.Ok("version", fmt::format(".NET {}", version));
  else if (major >= 10)
    out.Ok("version",
           fmt::format(".NET {}: allocations are sampled fairly (AllocationSampled)", version));
  else if (major >= 8)
    out.Ok("version", fmt::format(".NET {}: allocations are sampled every 100 KB "
                                  "(AllocationTick), which is biased; .NET 10 does better",
                                  version));
  else
    out.Warn("version",
             fmt::format(".NET {} is out of support and not tested with clrscope; "
                         "allocations are sampled every 100 KB (AllocationTick)",
                         version),
             "move to .NET 10");
}

void CheckSessions(const ProcessFacts& facts, const std::string& version, Checks& out) {
  if (facts.open_sessions == 0) return;
  const std::string what =
      fmt::format("{} of another tool {} open on it",
                  facts.open_sessions == 1 ? std::string("a session")
                                           : fmt::format("{} sessions", facts.open_sessions),
                  facts.open_sessions == 1 ? "is" : "are");
  if (SamplingEventOf(version) != SamplingEvent::kAllocationSampled) {
    out.Ok("sessions", what + "; each gets its own events");
    return;
  }
  out.Warn(
      "sessions",
      what +
          ": while anybody samples by AllocationSampled, as clrscope does here, nobody gets "
          "AllocationTick (dotnet-trace's gc-verbose)",
      "if the other tool needs AllocationTick, record with `--sampling tick`; if it samples by "
      "AllocationSampled itself, both get their samples as they are");
}

void CheckEventSources(const ProcessFacts& facts, Checks& out) {
  if (!EventSourcesOff(facts)) return;
  out.Warn("events",
           fmt::format("has EventSource switched off ({} is false in its runtimeconfig.json): "
                       "requests (--requests) and the runtime's counters (--pool, and the totals "
                       "of --max-overhead and of storms of exceptions) cannot be recorded; "
                       "everything else can",
                       kEventSourceSwitch),
           "build it with <EventSourceSupport>true</EventSourceSupport>, or set that property to "
           "true in the file, and start it again");
}

void CheckProfiler(const ProcessFacts& facts, Checks& out) {
  for (const std::string_view prefix : {"CORECLR", "DOTNET"}) {
    const auto on = FindVariable(facts.environ, fmt::format("{}_ENABLE_PROFILING", prefix));
    if (!on || *on != "1") continue;
    const auto path = FindVariable(facts.environ, fmt::format("{}_PROFILER_PATH", prefix));
    out.Warn("profiler",
             fmt::format("was started with another profiler ({}); a runtime takes one at a time",
                         path.value_or("unknown")),
             "recording from outside works beside it; attaching the agent may be refused");
    return;
  }
}

}  // namespace

bool WorthAsking(const ProcessFacts& facts, uid_t us) {
  return !facts.socket_path.empty() && MayUse(facts, us) && facts.state != 'T' &&
         facts.state != 't' && facts.state != 'Z';
}

std::vector<Check> Examine(const ProcessFacts& facts, uid_t us,
                           const std::optional<Result<ProcessInfo>>& answer) {
  Checks out;
  if (HasEnded(facts.state)) {
    out.Fail("process", ErrorCode::kNotFound, fmt::format("process {} has ended", facts.pid), "");
    return out.Take();
  }
  out.Ok("process", fmt::format("process {} runs", facts.pid));
  CheckRuntime(facts, out);
  if (facts.runtime == RuntimeKind::kNone) return out.Take();
  CheckUser(facts, us, out);
  CheckNamespaces(facts, out);
  CheckSwitchedOff(facts, out);
  if (facts.root_denied && MayUse(facts, us)) CheckReach(facts, us, out);
  if (!facts.root_denied || !facts.socket_path.empty()) {
    if (facts.socket_path.empty()) CheckTmpDir(facts, out);
    // Why there is none is said then.
    if (!out.Failed("diagnostics") && !out.Failed("tmpdir")) CheckSocket(facts, out);
  }
  CheckState(facts, out);
  CheckStart(facts, out);
  if (answer) CheckAnswer(facts, *answer, out);
  CheckVersion(facts, answer && answer->ok() ? (*answer)->clr_version : "", out);
  CheckSessions(facts, answer && answer->ok() ? (*answer)->clr_version : "", out);
  CheckEventSources(facts, out);
  CheckProfiler(facts, out);
  return out.Take();
}

std::optional<Error> Diagnosis::blocker() const {
  for (const Check& check : checks) {
    if (check.verdict != Verdict::kFail) continue;
    const bool named = check.code == ErrorCode::kNotFound || check.code == ErrorCode::kNotDotnet;
    return Error{check.code,
                 fmt::format("{}{}{}{}", named ? "" : fmt::format("process {} ", process.pid),
                             check.what, check.fix.empty() ? "" : "; ", check.fix)};
  }
  return std::nullopt;
}

}  // namespace clrscope::ipc
