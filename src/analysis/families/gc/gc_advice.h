// SPDX-License-Identifier: Apache-2.0
// What stands out in a process's collections and which setting governs it. A rule speaks only when
// its figures are there and clear: no advice is better than a wrong one. docs/gc.md lists the
// thresholds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/families/gc/gc_stats.h"
#include "profile/gc/gc_record.h"

namespace clrscope::analysis {

struct GcAdvice {
  std::string_view rule;  // "induced", "loh_churn", …: stable, for scripts
  std::string evidence;   // the figures, one sentence
  std::string advice;     // what to do, one sentence
  std::string setting;    // the name to look up
};

// `gcs` and `figures`: of one process, sorted by start. In the order of the rules.
std::vector<GcAdvice> AdviceFor(std::span<const profile::PackedGc> gcs, const GcFigureList& figures,
                                const GcStats& stats, const profile::GcFacts& facts);

}  // namespace clrscope::analysis
