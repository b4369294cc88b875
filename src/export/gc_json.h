// SPDX-License-Identifier: Apache-2.0
// Collections as JSON: plain numbers with the unit in the key, null for what is not known.
// Others build on it: members may be added, never renamed. docs/gc.md tells each.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/gc_report.h"
#include "profile/profile.h"

namespace clrscope::exporter {

// A process and its sums.
nlohmann::ordered_json GcProcessJson(const analysis::ProcessGcs& report,
                                     const profile::Profile& profile);
// One collection, `index` of the process's.
nlohmann::ordered_json GcJson(const analysis::ProcessGcs& report, size_t index,
                              const profile::Profile& profile, const analysis::GcSites& sites);

}  // namespace clrscope::exporter
