// SPDX-License-Identifier: Apache-2.0
// What the frames of a thread say about why it did not run.
#pragma once

#include "profile/profile.h"
#include "profile/tables/thread_state.h"

namespace clrscope::analysis {

// kIdle where no frame is the program's and none is a lock: a thread of a pool or of the runtime
// that waits for its next work. So are native threads without any method. kBlockedUnknown where the
// frames tell nothing.
profile::ThreadState WhyBlocked(const profile::Profile& profile, uint32_t node);

// The same of a thread of which nothing tells whether it ran: kUnknown unless the method at the end
// of the stack is one of the framework's that wait in native code.
profile::ThreadState WhereNothingTells(const profile::Profile& profile, uint32_t node);

}  // namespace clrscope::analysis
