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
  ErrorCode code = ErrorCode::kPermission;  // or kNotFound: it has ended
  std::string why;                          // what forbids it, a sentence without its end
  std::string fix;                          // what would allow it, likewise; "" of kNotFound
  // kernel.yama.ptrace_scope of 1 alone forbids it: whoever is inside the process may allow it, by
  // PR_SET_PTRACER.
  bool by_yama = false;

  Error error() const;
};

// A seccomp filter forbids clrscope to trace anybody.
std::optional<TraceRefusal> WhyNoPtrace();

// Nothing: its memory may be read, which takes the same right as tracing.
std::optional<TraceRefusal> WhyNotRead(pid_t pid);
// Nothing: it may be traced, as far as can be said without doing so.
std::optional<TraceRefusal> WhyNotTraced(pid_t pid);
// The same. errors: kNotFound, kPermission
Status MayTrace(pid_t pid);

// Why a thread could not be stopped, as the end of a sentence about it. `error`: errno of ptrace
std::string WhyNoStop(pid_t thread, int error);

}  // namespace clrscope::capture
