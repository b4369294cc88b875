// SPDX-License-Identifier: Apache-2.0
// Facts, answer and judgement put together.
#include <fmt/format.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "clr/process_name.h"
#include "ipc/diagnosis/diagnosis.h"
#include "ipc/processes/proc_stat.h"
#include "ipc/protocol/client.h"
#include "ipc/transport/socket_search_linux.h"
#include "ipc/transport/transport.h"

namespace clrscope::ipc {
namespace {

// An answer that broke off: a process that is killed closes its sockets a little before it ends.
bool BrokeOff(const Error& error) {
  return error.code != ErrorCode::kTimeout && error.code != ErrorCode::kPermission &&
         error.code != ErrorCode::kNotFound && error.code != ErrorCode::kRefused;
}
constexpr std::chrono::milliseconds kEnding{100};

constexpr int kLooks = 5;
constexpr std::chrono::milliseconds kBetweenLooks{20};

// …/Microsoft.NETCore.App/10.0.12/libcoreclr.so → "10.0.12"; "" for a self-contained program.
std::string VersionFromPath(std::string_view coreclr_path) {
  const size_t slash = coreclr_path.rfind('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view folder = clr::BaseName(coreclr_path.substr(0, slash));
  return MajorVersion(folder) > 0 ? std::string(folder) : std::string();
}

DotnetProcess Summarize(const ProcessFacts& facts, const ProcessInfo* info) {
  DotnetProcess process;
  process.pid = facts.pid;
  process.inner_pid = facts.inner_pid;
  process.start_ticks = facts.start_ticks;
  process.uid = facts.uid;
  process.rss_bytes = facts.rss_bytes;
  process.uptime_s = facts.uptime_s;
  process.socket_path = facts.socket_path;
  process.open_sessions = facts.open_sessions;
  for (const std::string& arg : facts.argv)
    process.command_line += fmt::format("{}{}", process.command_line.empty() ? "" : " ", arg);
  if (info != nullptr) {
    process.entry_assembly = info->entry_assembly;
    process.clr_version = info->clr_version;
    process.arch = info->arch;
    process.rid = info->rid;
  }
  if (process.clr_version.empty()) process.clr_version = VersionFromPath(facts.coreclr_path);
  process.name = clr::ProcessName(facts.argv, process.entry_assembly, facts.comm);
  process.sampling = SamplingEventOf(process.clr_version);
  process.gc = DetectGc(facts);
  process.event_sources_off = EventSourcesOff(facts);
  process.native_aot = facts.runtime == RuntimeKind::kNativeAot;
  return process;
}

}  // namespace

std::optional<Check> FindUnseenProcesses() {
  const std::vector<std::string> sockets = SocketsOfUnseenProcesses();
  if (sockets.empty()) return std::nullopt;
  Check check;
  check.name = "namespace";
  check.verdict = Verdict::kWarn;
  check.what = fmt::format(
      "a .NET process listens at {}, and cannot be seen from this pid namespace", sockets.front());
  check.fix =
      "share the namespace: `shareProcessNamespace: true` in the pod, or `kubectl debug "
      "--target=CONTAINER`";
  return check;
}

Diagnosis Diagnose(const ProcessFacts& facts, bool ask, std::chrono::milliseconds timeout) {
  const uid_t us = ::geteuid();
  std::optional<Result<ProcessInfo>> answer;
  if (ask && WorthAsking(facts, us)) {
    SocketTransport transport(facts.socket_path, facts.pid);
    answer = Client(transport).GetProcessInfo(Deadline::After(timeout));
    if (!answer->ok() && BrokeOff(answer->error()) && IsEnding(facts.pid, kEnding))
      answer = Error{ErrorCode::kNotFound, "it is ending"};
  }
  Diagnosis diagnosis;
  diagnosis.checks = Examine(facts, us, answer);
  diagnosis.process = Summarize(facts, answer && answer->ok() ? &**answer : nullptr);
  const std::optional<Error> blocker = diagnosis.blocker();
  diagnosis.process.attachable = !blocker;
  if (blocker) {
    diagnosis.process.reason = blocker->message;
    diagnosis.process.reason_code = blocker->code;
  }
  return diagnosis;
}

Diagnosis Diagnose(pid_t pid, std::chrono::milliseconds timeout) {
  Result<ProcessFacts> facts = GatherFacts(pid);
  // A question that was answered a moment ago looks like a session until the runtime has closed its
  // end, too.
  for (int i = 0; i < kLooks && facts.ok() && facts->open_sessions != 0; ++i) {
    std::this_thread::sleep_for(kBetweenLooks);
    facts = GatherFacts(pid);
  }
  if (facts.ok()) {
    Diagnosis diagnosis = Diagnose(*facts, true, timeout);
    if (diagnosis.process.reason_code == ErrorCode::kNotDotnet)
      if (auto unseen = FindUnseenProcesses()) diagnosis.checks.push_back(std::move(*unseen));
    return diagnosis;
  }
  Diagnosis diagnosis;
  diagnosis.process.pid = pid;
  diagnosis.process.reason = facts.error().message;
  diagnosis.process.reason_code = facts.error().code;
  diagnosis.checks.push_back({"process", Verdict::kFail, facts.error().message,
                              "`clrscope ps` lists the .NET processes", facts.error().code});
  if (auto unseen = FindUnseenProcesses()) diagnosis.checks.push_back(std::move(*unseen));
  return diagnosis;
}

}  // namespace clrscope::ipc
