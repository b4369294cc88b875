// SPDX-License-Identifier: Apache-2.0
// pprof files as input: one, or a folder of them in order of time.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "profile/tables/agent_tables.h"
#include "profile/tables/process_tables.h"

namespace clrscope::report {

// A folder, or a file that is gzipped or has a name that ends as pprof files' do, and that holds no
// nettrace.
bool LooksLikePprof(const std::string& path);

// Makes `recording` one of one process. Profiles of a span of time add up; those without a duration
// hold all allocations since the program began: of several the last one counts.
// errors: a file that cannot be read or is no profile of memory, with its name; kEmpty for a folder
// without any
Result<std::vector<profile::AgentInterval>> ReadPprofs(const std::string& path,
                                                       profile::Recording& recording);

}  // namespace clrscope::report
