// SPDX-License-Identifier: Apache-2.0
// `report --by request` and `report --slowest` for people.
#pragma once

#include <cstddef>
#include <string>

#include "profile/profile.h"
#include "report/rows/request_rows.h"
#include "report/text/table.h"

namespace clrscope::report {

std::string RequestsText(const RequestTable& table, const profile::Profile& profile,
                         const TextOptions& options);
// At most `limit` of the slowest requests.
std::string SlowestText(const profile::Profile& profile, size_t limit, const TextOptions& options);

}  // namespace clrscope::report
