// SPDX-License-Identifier: Apache-2.0
// Collections as tables for a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/gc_report.h"
#include "cli/terminal.h"
#include "profile/profile.h"

namespace clrscope::cli {

struct GcTextOptions {
  size_t width = 100;
  Style style;
  bool wide = false;      // every column, however wide
  size_t limit = 20;      // rows of the table of collections, the latest ones
  bool by_pause = false;  // the longest pauses instead of the latest
};

// One process: heading, roll-up, pauses, what stands out, the collections.
std::string GcText(const analysis::ProcessGcs& report, const profile::Profile& profile,
                   const GcTextOptions& options);

}  // namespace clrscope::cli
