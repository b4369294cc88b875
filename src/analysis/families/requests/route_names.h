// SPDX-License-Identifier: Apache-2.0
// What the routes of a process are called, once all that is to be known of them is.
#pragma once

#include <string>
#include <vector>

#include "profile/tables/process_tables.h"

namespace clrscope::analysis {

// By the number of the route in `tables.requests.routes`. Templates have their method before them
// ("GET /items/{id}"); a path that was kept before its template was known has that template's name;
// requests without a route are told by their status where there is only one ("GET (404)").
std::vector<std::string> RouteNames(const profile::ProcessTables& tables,
                                    const StringPool& strings);

}  // namespace clrscope::analysis
