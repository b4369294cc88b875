// SPDX-License-Identifier: Apache-2.0
// What a page can show by turns: what was allocated, what lives, the garbage collector's CPU time.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "export/html_columns.h"
#include "export/html_data.h"
#include "profile/profile.h"

namespace clrscope::exporter {

// What the page knows of each view, the first one being shown first: `shows` (allocated, live,
// gc-cpu) and, of the first two, what their figures are worth and their totals.
nlohmann::json DescribeViews(const profile::Profile& profile, const PageTree& page);

// The cells of both, as `cell_…` and `live_…`. `type_ids`: index into Profile::types → row of the
// page's types, the last one for kOtherType.
void PackCells(const PageTree& page, const std::vector<uint32_t>& type_ids, Columns& out);

// What lived over time by age, `age_…`: at most 1000 moments, of those between them the last.
void PackAges(const profile::Profile& profile, Columns& out);

// CPU time over time, `cpu_…`, in at most 1000 steps per process; -1 = unknown.
void PackGcCpu(const profile::Profile& profile, Columns& out);

}  // namespace clrscope::exporter
