// SPDX-License-Identifier: Apache-2.0
// Collections → one self-contained HTML page with charts and a table.
#pragma once

#include <cstddef>
#include <span>

#include "analysis/families/gc/gc_report.h"
#include "base/byte_sink.h"
#include "base/result.h"
#include "profile/profile.h"

namespace clrscope::exporter {

struct GcHtmlOptions {
  // Of each process so many collections are in the page one by one: the latest. Older ones are
  // merged, some at a time, so that every sum and every maximum stays; the page says so.
  size_t max_single = 20'000;
  size_t max_merged = 2'000;    // rows that hold the older ones
  size_t max_detailed = 3'000;  // with what was allocated before: those with the longest pauses
};

// errors: the sink's; kFailed without the web pages (-DCLRSCOPE_WEB=off)
Status WriteGcHtml(std::span<const analysis::ProcessGcs> reports, const profile::Profile& profile,
                   const GcHtmlOptions& options, ByteSink& sink);

// What the page is given, as JSON text: for tests.
std::string GcPageData(std::span<const analysis::ProcessGcs> reports,
                       const profile::Profile& profile, const GcHtmlOptions& options);

}  // namespace clrscope::exporter
