// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include "capture/record/unheard.h"
#include "ipc/diagnosis/diagnosis.h"
#include "ipc/processes/clr_config.h"
#include "ipc/processes/proc_linux.h"
#include "ipc/processes/proc_stat.h"
#include "ipc/processes/proc_text.h"
#include "ipc/processes/process_facts.h"

namespace clrscope::capture {
namespace {

// In seconds; less than the time until the first look, at which a program has to have started.
constexpr double kStartsFor = 0.8;

// Whether `port` is in its environment; nothing in the middle of execve(2), which has none.
// Whoever is older than clrscope is not asked: reading takes the lock of its memory, which a
// process that hangs in the kernel may hold. Source: Linux fs/proc/base.c, environ_read
std::optional<bool> Inherits(pid_t pid, const std::string& port) {
  static const Result<ipc::ProcStat> own = ipc::ReadProcStat(::getpid());
  const Result<ipc::ProcStat> stat = ipc::ReadProcStat(pid);
  if (!stat.ok() || (own.ok() && stat->start_ticks < own->start_ticks)) return false;
  const Result<std::string> environment = ipc::ReadFile(fmt::format("/proc/{}/environ", pid));
  if (!environment.ok()) return false;
  if (!environment->empty()) return environment->find(port) != std::string::npos;
  const bool program = !ipc::ReadLink(fmt::format("/proc/{}/exe", pid)).empty();
  if (program && ipc::EnvironmentStart(pid) == 0) return std::nullopt;
  return false;
}

// `program`, what runs below it, and what has inherited its port. What has lost both its parent and
// the port is not found.
std::vector<pid_t> Family(pid_t program, const std::string& port) {
  std::map<pid_t, pid_t> parents;
  for (const pid_t pid : ipc::ListPids())
    if (const auto status = ipc::ReadProcStatus(pid); status.ok()) parents[pid] = status->parent;
  std::vector<pid_t> family;
  for (const auto& [pid, parent] : parents) {
    pid_t above = pid;
    for (size_t i = 0; i < parents.size() && above != program; ++i) {
      const auto it = parents.find(above);
      if (it == parents.end() || it->second == 0) break;
      above = it->second;
    }
    if ((program != 0 && above == program) || Inherits(pid, port).value_or(false))
      family.push_back(pid);
  }
  return family;
}

std::string WhySilent(const ipc::ProcessFacts& facts, const std::string& port) {
  const std::string who = fmt::format("process {} ({})", facts.pid, facts.comm);
  if (!facts.environ_readable || facts.environ.empty() || ipc::HasEnded(facts.state) ||
      facts.uptime_s < kStartsFor)
    return {};
  const bool aot = facts.runtime == ipc::RuntimeKind::kNativeAot;
  // Native AOT knows the one name alone.
  if (const std::string by = ipc::SwitchedOffBy(facts.environ, ipc::kIpc);
      !by.empty() && (!aot || by.starts_with("DOTNET_EnableDiagnostics=")))
    return fmt::format("{} has its diagnostics switched off by {}", who, by);
  const auto blocker = ipc::Diagnose(facts, false, std::chrono::milliseconds(0)).blocker();
  const std::vector<ipc::DiagnosticPort> ports =
      ipc::ParsePorts(ipc::FindClrVariable(facts.environ, "DiagnosticPorts").value_or(""));
  if (std::none_of(ports.begin(), ports.end(),
                   [&](const ipc::DiagnosticPort& p) { return p.path == port; }))
    return fmt::format(
        "{} was started without clrscope's port in its environment (DOTNET_DiagnosticPorts){}", who,
        blocker ? "" : fmt::format("; `clrscope record -p {}` records it", facts.pid));
  if (facts.uid != ::geteuid() && facts.uid != 0)
    return fmt::format("{} runs as user {}, who may not dial clrscope's port", who, facts.uid);
  // A socket of its own is of no use to it, nor is the lack of one a reason.
  if (aot && blocker) return blocker->message;
  if (!facts.root.empty() && ::access((facts.root + port).c_str(), F_OK) != 0 && errno == ENOENT)
    return fmt::format("{} has another file system, in which clrscope's port does not lie", who);
  return {};
}

}  // namespace

bool MayInherit(pid_t pid, const std::string& port) { return Inherits(pid, port).value_or(true); }

std::vector<pid_t> Inheritors(const std::string& port) {
  std::vector<pid_t> pids = ipc::ListPids();
  std::erase_if(pids, [&port](pid_t pid) { return !MayInherit(pid, port); });
  return pids;
}

std::string WhyUnheard(pid_t program, const std::string& port) {
  for (const pid_t pid : Family(program, port)) {
    const auto facts = ipc::GatherFacts(pid);
    if (!facts.ok() || facts->runtime == ipc::RuntimeKind::kNone) continue;
    if (std::string why = WhySilent(*facts, port); !why.empty()) return why;
  }
  return {};
}

}  // namespace clrscope::capture
