// SPDX-License-Identifier: Apache-2.0
// A profile of what lives, in place of what was allocated: every table and exporter then shows it.
#pragma once

#include <cstdint>

#include "profile/profile.h"

namespace clrscope::profile {

// Replaces the cells by those of the live objects, added up by stack, type and heap; `lives` keeps
// only what is counted. Young objects are left out: nobody knows whether they live. Threads and
// spans of time are dropped, since a state has none.
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
