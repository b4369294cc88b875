// SPDX-License-Identifier: Apache-2.0
// Sentences on what samples of the runtime's sampler are, and what they are not.
#pragma once

#include <string>

#include "profile/profile.h"

namespace clrscope::profile {

// "" of a figure that rests on something else.
std::string SamplerNote(const Profile& profile, const Figure& figure);

// That it is not known which threads ran, and why; "" where it is known of every process.
std::string ModesNote(const Profile& profile);

}  // namespace clrscope::profile
