// SPDX-License-Identifier: Apache-2.0
// The exit codes: what a script can tell apart.
#pragma once

#include "base/result.h"

namespace clrscope::cli {

// `clrscope --help` lists them; never renumbered.
enum ExitCode : int {
  kExitOk = 0,
  kExitFailure = 1,
  kExitUsage = 2,
  kExitEmpty = 3,     // nothing was recorded, or nothing matches
  kExitNoTarget = 4,  // no such process or file, or not .NET
  kExitPermission = 5,
  kExitRefused = 6,     // the runtime, or the format, does not support it
  kExitThreshold = 7,   // a condition of --fail-on holds
  kExitIncomplete = 8,  // damaged or truncated input; what could be read was shown
};
int ExitCodeOf(ErrorCode code);

}  // namespace clrscope::cli
