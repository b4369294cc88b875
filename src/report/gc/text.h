// SPDX-License-Identifier: Apache-2.0
// Collections as tables for a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/families/gc/gc_report.h"
#include "profile/profile.h"
#include "report/text/style.h"

namespace clrscope::report {

struct GcTextOptions {
  size_t width = 100;
  Style style;
  bool wide = false;      // every column, however wide
  size_t limit = 20;      // rows of the table of collections, the latest ones
  bool by_pause = false;  // the longest pauses instead of the latest
  bool collections = true;
};

// One process: heading, roll-up, pauses, what stands out, the collections.
std::string GcText(const analysis::ProcessGcs& report, const profile::Profile& profile,
                   const GcTextOptions& options);

// Collections of live processes, line by line as they end; what lies above a line stays.
class GcLines {
 public:
  GcLines(Style style, bool several) : style_(style), several_(several) {}
  std::string Heading() const;
  std::string Line(const analysis::ProcessGcs& report, size_t index,
                   const profile::Profile& profile) const;

 private:
  Style style_;
  bool several_;  // processes: each line names its own
};

}  // namespace clrscope::report
