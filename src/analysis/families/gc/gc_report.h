// SPDX-License-Identifier: Apache-2.0
// The collections of a bound recording, process by process, with all that follows from them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/families/gc/gc_advice.h"
#include "analysis/families/gc/gc_causes.h"
#include "analysis/families/gc/gc_stats.h"
#include "profile/profile.h"

namespace clrscope::analysis {

struct ProcessGcs {
  uint32_t process = 0;                    // index into the profile's
  std::span<const profile::PackedGc> gcs;  // the profile's, sorted by start
  GcFigureList figures;
  GcStats stats;
  std::vector<GcAdvice> advice;
  std::vector<InducingStack> induced_by;
  Blame blame;
};

// One entry per process, those without collections too. `profile` must outlive what is returned.
std::vector<ProcessGcs> GcReportOf(const profile::Profile& profile);

}  // namespace clrscope::analysis
