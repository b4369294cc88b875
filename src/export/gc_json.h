// SPDX-License-Identifier: Apache-2.0
// Collections as JSON: plain numbers with the unit in the key, null for what is not known.
// Others build on it: members may be added, never renamed. docs/gc.md tells each.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "analysis/families/gc/gc_report.h"
#include "profile/profile.h"

namespace clrscope::exporter {

using Json = nlohmann::ordered_json;

// Null stands for what is not known.
inline Json Known(int64_t v) { return v < 0 ? Json() : Json(v); }
inline Json Known(double v) { return std::isfinite(v) ? Json(v) : Json(); }
inline Json Known(std::string_view v) { return v.empty() ? Json() : Json(v); }

// A process and its sums.
Json GcProcessJson(const analysis::ProcessGcs& report, const profile::Profile& profile);
// One collection, `index` of the process's.
Json GcJson(const analysis::ProcessGcs& report, size_t index, const profile::Profile& profile,
            const analysis::GcSites& sites);

}  // namespace clrscope::exporter
