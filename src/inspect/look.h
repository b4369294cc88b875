// SPDX-License-Identifier: Apache-2.0
// Looks at every thread of a process once, from outside and without its help.
#pragma once

#include <sys/types.h>

#include <chrono>

#include "base/result.h"
#include "inspect/picture.h"
#include "ipc/processes/process_facts.h"

namespace clrscope::inspect {

struct LookOptions {
  std::chrono::milliseconds watch{200};  // how long CPU time is watched first
};

// errors: kNotFound, kNotDotnet, kPermission (its memory may not be read), kRefused (compiled ahead
// of time)
Result<Picture> Look(const ipc::ProcessFacts& facts, const LookOptions& options = {});

}  // namespace clrscope::inspect
