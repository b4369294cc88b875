// SPDX-License-Identifier: Apache-2.0
// The figures of what the agent tells beside allocations: what lives, and the GC's CPU time.
#pragma once

#include <cstdint>

#include "profile/profile.h"

namespace clrscope::profile {

// Fills the cells of both from their rows. Young objects are left out: nobody knows whether they
// live. A state has no threads and spans of time; CPU time has no stacks, types and threads.
void FinishAgentFigures(Profile& profile);

// Shows what lives, where anything was followed.
//   older_than_s: only what was allocated so long ago; one of kAgeStarts, see AgeStartFor()
void ShowLive(Profile& profile, uint32_t older_than_s = 0);

// Which event the live objects of a profile rest on; `mixed`: AllocationTick in some processes.
struct LiveBasis {
  Source source = Source::kSampled;
  bool mixed = false;
};
LiveBasis LiveBasisOf(const Profile& profile);

// The bound of an age bucket that is next to `seconds`, not below it; the last one at most.
uint32_t AgeStartFor(uint32_t seconds);

}  // namespace clrscope::profile
