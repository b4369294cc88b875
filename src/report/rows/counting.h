// SPDX-License-Identifier: Apache-2.0
// How far counted figures (GCSampledObjectAllocation) go: for people and for JSON.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"
#include "report/json.h"

namespace clrscope::report {

// One sentence each: whether the figures are exact, what may be missing, what was added.
std::vector<std::string> CountingSentences(const profile::Profile& profile);
// null for a process of which nothing was counted.
Json CountingJson(const profile::Counting& counting);

}  // namespace clrscope::report
