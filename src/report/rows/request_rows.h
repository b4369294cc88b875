// SPDX-License-Identifier: Apache-2.0
// What each route costs, over every measure of a recording; and its slowest requests.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "profile/views/request_costs.h"
#include "report/json.h"

namespace clrscope::report {

using RequestRow = profile::RequestCost;

struct RequestTable {
  std::vector<RequestRow> rows;
  size_t all_rows = 0;
};

// `sort`: "bytes", "count", "duration" (p95), "errors", "exceptions", "lock_wait",
// "queue", "awaiting", "gc", "" = bytes
// where allocations were recorded, else the time that requests took in all.
// Rows that belong to no request come last.
RequestTable RequestRows(const profile::Profile& profile, std::string_view sort, size_t limit);
bool IsRequestSort(std::string_view sort);

Json RequestJson(const RequestRow& row, const profile::Profile& profile);
Json SlowRequestJson(const profile::SlowRequestRow& row, const profile::Profile& profile);

}  // namespace clrscope::report
