// SPDX-License-Identifier: Apache-2.0
// Goes through /proc; the processes that are .NET are asked side by side.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "clr/process_name.h"
#include "ipc/diagnosis/diagnosis.h"
#include "ipc/processes/process_facts.h"
#include "ipc/processes/process_finder.h"

namespace clrscope::ipc {
namespace {

constexpr size_t kMaxAtOnce = 8;
// Nobody else waits, and a busy machine may need it.
constexpr std::chrono::seconds kPatienceWithOne{5};

}  // namespace

std::vector<DotnetProcess> FindProcesses(const FindOptions& options) {
  std::vector<ProcessFacts> found;
  const pid_t self = ::getpid();
  for (const pid_t pid : ListPids()) {
    if (pid == self) continue;
    Result<ProcessFacts> facts = GatherFacts(pid);
    if (facts.ok() && facts->runtime != RuntimeKind::kNone) found.push_back(facts.Take());
  }
  // One that does not answer costs its whole timeout: it shall not hold up the others.
  std::vector<DotnetProcess> processes(found.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < found.size(); i = next++)
      processes[i] = Diagnose(found[i], options.ask, options.timeout).process;
  };
  std::vector<std::thread> helpers;
  if (options.ask)
    for (size_t i = 1; i < std::min(kMaxAtOnce, found.size()); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  return processes;
}

Result<DotnetProcess> FindProcess(pid_t pid, const FindOptions& options) {
  ASSIGN_OR_RETURN(const ProcessFacts facts, GatherFacts(pid));
  DotnetProcess process =
      Diagnose(facts, options.ask,
               std::max<std::chrono::milliseconds>(options.timeout, kPatienceWithOne))
          .process;
  if (facts.runtime == RuntimeKind::kNone) return Error{process.reason_code, process.reason};
  return process;
}

std::vector<DotnetProcess> FindByName(std::string_view name, const FindOptions& options) {
  std::vector<DotnetProcess> processes = FindProcesses(options);
  std::erase_if(processes, [&](const DotnetProcess& process) {
    return !clr::NameMatches(name, process.name, process.entry_assembly);
  });
  return processes;
}

Result<std::unique_ptr<Transport>> OpenTransport(const DotnetProcess& process) {
  if (!process.attachable) return Error{process.reason_code, process.reason};
  return std::unique_ptr<Transport>(
      std::make_unique<SocketTransport>(process.socket_path, process.pid));
}

}  // namespace clrscope::ipc
