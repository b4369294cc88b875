// SPDX-License-Identifier: Apache-2.0
// The collections of a file of any kind that clrscope reads.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "profile/profile.h"

namespace clrscope::report {

struct GcInput {
  profile::Profile profile;
  // Damaged or cut input: what is wrong and where. Everything before it is in the profile.
  std::optional<Error> damage;
};

// `path`: a capture or a nettrace; "-" = a nettrace on standard input. `process`: of --process, ""
// = all. `marks`: whether times and bytes of marking are of use; their events are half of a trace.
// errors: kUsage, kEmpty for `process`; or a file of which nothing can be read
Result<GcInput> LoadGcs(const std::string& path, const std::string& process, bool marks);

}  // namespace clrscope::report
