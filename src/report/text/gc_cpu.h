// SPDX-License-Identifier: Apache-2.0
// `report --by gc-cpu`: the CPU time that the garbage collector took, of the program's.
#pragma once

#include <cstddef>
#include <string>

#include "profile/profile.h"
#include "report/json.h"
#include "report/text/table.h"

namespace clrscope::report {

// One object per process (start_s to end_s is all of it), then one per interval, oldest first.
// Unknown is null.
Json GcCpuTotals(const profile::Profile& profile);
Json GcCpuRow(const profile::GcCpuRow& row, const profile::Profile& profile);

// Two tables: processes, and at most `limit` intervals, neighbours added up; 0: processes alone.
std::string GcCpuText(const profile::Profile& profile, size_t limit, const TextOptions& options);

}  // namespace clrscope::report
