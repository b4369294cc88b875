// SPDX-License-Identifier: Apache-2.0
// The collections of processes that run, as they end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "analysis/families/gc/gc_report.h"
#include "base/result.h"
#include "cli/live/live_selection.h"
#include "profile/profile.h"

namespace clrscope::cli {

struct GcWatchOptions {
  LiveSelection selection;
  std::optional<int64_t> duration_ns;
  // Of each process so many are kept for the summary; older ones go, and it says so.
  size_t max_gcs = 100'000;
};

// Called with each collection that has ended, index `index` of the report; the profile holds it and
// some before it. A failure ends the watching.
using OnGc = std::function<Status(const analysis::ProcessGcs& report, size_t index,
                                  const profile::Profile& profile)>;

// Watches until Ctrl-C, until the time is over or every process has ended. Returns all collections,
// bound. `on_gc` may be null.
// errors: usage, no such process, permission, the system's, on_gc's
Result<profile::Profile> WatchGcs(const GcWatchOptions& options, const OnGc& on_gc);

}  // namespace clrscope::cli
