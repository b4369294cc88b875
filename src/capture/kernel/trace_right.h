// SPDX-License-Identifier: Apache-2.0
// Whether a process may be traced: its threads stopped, its memory read. Nothing is done to it.
// Source: ptrace(2), "Ptrace access mode checking"; linux Documentation/admin-guide/LSM/Yama.rst
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"

namespace clrscope::capture {

struct TraceRefusal {
  // Or kNotFound: it has ended; kFailed: it could not be found out.
  ErrorCode code = ErrorCode::kPermission;
  std::string why;  // what forbids it, a sentence without its end
  std::string fix;  // what would allow it, likewise; "" where it is no matter of permissions
  // kernel.yama.ptrace_scope of 1 forbids it, and whoever is inside the process can allow it, by
  // PR_SET_PTRACER.
  bool by_yama = false;

  Error error() const;
};

// Nothing: who may be traced is to be seen of each process. `but_children`: it is about those that
// we start, which Yama leaves to us.
std::optional<TraceRefusal> WhyNobodyTraced(bool but_children);

// Nothing: its memory may be read, which takes the same right as tracing.
std::optional<TraceRefusal> WhyNotRead(pid_t pid);
// Nothing: it may be traced, as far as can be said without doing so.
std::optional<TraceRefusal> WhyNotTraced(pid_t pid);
// The same. errors: kNotFound, kPermission, kFailed
Status MayTrace(pid_t pid);

// Why a thread could not be stopped, as the end of a sentence about it. `error`: errno of ptrace
std::string WhyNoStop(pid_t thread, int error);

}  // namespace clrscope::capture
