// SPDX-License-Identifier: Apache-2.0
// What the frames of a wait say about whether it is told.
#pragma once

#include "profile/profile.h"

namespace clrscope::analysis {

// A thread of the runtime or the framework that waits for its next work: no frame is the program's.
bool IsRuntimesOwnWait(const profile::Profile& profile, uint32_t node);

// A wait whose end may not have been written: System.Threading.Lock.TryEnter with a timeout.
bool MayHaveGivenUp(const profile::Profile& profile, uint32_t node);

}  // namespace clrscope::analysis
