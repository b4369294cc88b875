// SPDX-License-Identifier: Apache-2.0
// Why a process can or cannot be profiled, reason by reason, each with what to do about it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ipc/processes/process_facts.h"
#include "ipc/protocol/reply.h"

namespace clrscope::ipc {

enum class Verdict : uint8_t { kOk, kWarn, kFail };

struct Check {
  std::string name;  // stable, for JSON: "process", "runtime", "user", "socket" …
  Verdict verdict = Verdict::kOk;
  std::string what;                     // one sentence
  std::string fix;                      // what to do; "" when there is nothing to do
  ErrorCode code = ErrorCode::kFailed;  // of a failure
};

struct Diagnosis {
  std::vector<Check> checks;
  DotnetProcess process;  // filled as far as it is known; pid always

  // The first failure as an error (what and fix in its message), or none: it can be profiled.
  std::optional<Error> blocker() const;
};

// Judges without I/O.
//   us: our effective user id
//   answer: to ProcessInfo; nullopt = not asked
std::vector<Check> Examine(const ProcessFacts& facts, uid_t us,
                           const std::optional<Result<ProcessInfo>>& answer);

// Whether asking the process can lead to anything: it has a socket that we may use, and it runs.
bool WorthAsking(const ProcessFacts& facts, uid_t us);

// A warning where a .NET process has its socket in a folder that we share with it, and is in a pid
// namespace that we do not see: a container of the same pod.
std::optional<Check> FindUnseenProcesses();

// Gathers, asks and judges. Never fails: what goes wrong is a check.
Diagnosis Diagnose(pid_t pid, std::chrono::milliseconds timeout = std::chrono::milliseconds(5000));
// The same for facts that are already there. ask = false: without a word to the process.
Diagnosis Diagnose(const ProcessFacts& facts, bool ask, std::chrono::milliseconds timeout);

}  // namespace clrscope::ipc
