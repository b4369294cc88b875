// SPDX-License-Identifier: Apache-2.0
// What a page can show by turns: what was allocated, what lives, exceptions and waits, the garbage
// collector's CPU time.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "export/html_columns.h"
#include "export/html_data.h"
#include "profile/profile.h"

namespace clrscope::exporter {

// What the page knows of each view, the first one being shown first: `shows` (MeasureSpec::shows),
// the words and quantities of its measure and, of all but gc-cpu, what its figures are worth and
// their totals. A page calls a measure's amount `bytes` and its count `objects`, whatever they are.
nlohmann::json DescribeViews(const profile::Profile& profile, const PageTree& page);

// What the columns of a measure of events begin with: `locks_step`, `locks_time_start`.
inline std::string EventPrefix(const profile::Figure& f) { return std::string(f.spec().shows); }

// The cells of all views, as `cell_…`, `live_…` and `EventPrefix()_…`. `type_ids`: index into
// Profile::types → row of the page's types, the last one for kOtherType.
void PackCells(const PageTree& page, const std::vector<uint32_t>& type_ids, Columns& out);

// What lived over time by age, `age_…`: at most 1000 moments, of those between them the last.
void PackAges(const profile::Profile& profile, Columns& out);

// CPU time over time, `cpu_…`, in at most 1000 steps per process; -1 = unknown.
void PackGcCpu(const profile::Profile& profile, Columns& out);

}  // namespace clrscope::exporter
