// SPDX-License-Identifier: Apache-2.0
// Narrows a profile to the types, methods and processes that someone asked about.
#pragma once

#include <string>

#include "base/result.h"
#include "profile/profile.h"

namespace clrscope::profile {

// Empty = everything. `type` and `method` are RE2 patterns, found anywhere in the C# name or in the
// runtime's name; a stack matches when any of its frames does. `process` is a pid or a whole name.
struct Filter {
  std::string type{}, method{}, process{};
  // The profile knows no types or stacks of its threads, time spans and ages over time: such a
  // filter removes them.
  bool hides_threads_and_times() const { return !type.empty() || !method.empty(); }
};

// Removes what does not match, in place. errors: kUsage (a bad pattern, with its position), kEmpty
// (no such process, naming those that there are). Nothing left is no error.
Status Apply(const Filter& filter, Profile& profile);

}  // namespace clrscope::profile
