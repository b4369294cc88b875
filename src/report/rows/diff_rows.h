// SPDX-License-Identifier: Apache-2.0
// The rows of `diff`: what two sides of recordings say about the same type, site, method …
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/compare.h"
#include "profile/views/durations.h"
#include "report/input/input.h"
#include "report/rows/rows.h"

namespace clrscope::report {

enum class Per { kTotal, kSecond, kGc, kRequest };

// One recording of a side, or a window of it.
struct DiffInput {
  Input input;
  std::string name;  // as it was given
  double seconds = 0;
  uint64_t gcs = 0;
  double exposure = 1;  // what its figures are divided by
};

// The requests of one route on one side, of all its runs.
struct RouteSide {
  double count = 0;
  std::optional<double> errors;  // nothing: the runtime did not count them, of some run
  profile::Durations durations;
};
struct RouteSides {
  RouteSide before, after;
  // A route of one side alone has figures there, and nothing to compare them with.
  bool both() const { return before.count > 0 && after.count > 0; }
};

struct DiffRow {
  Json key;  // what is the same on both sides; no pid, no type id
  profile::Difference difference;
  profile::Estimate before, after;     // sums of each side's runs
  std::optional<RouteSides> requests;  // of View::kRequest
};

struct DiffTable {
  View view = View::kSite;
  profile::Metric metric = profile::Metric::kAmount;
  profile::Measure measure = profile::Measure::kAllocations;
  profile::Source source = profile::Source::kSampled;
  const profile::MeasureSpec& spec() const { return SpecOf(measure); }
  const profile::Quantity& quantity() const {
    return metric == profile::Metric::kAmount ? spec().amount : spec().count;
  }
  DiffRow total;
  std::vector<DiffRow> rows;  // changed ones first, each part by size of the difference
  size_t changed = 0;
  profile::Spread spread;
};

// Rows are matched by names: process and type ids are new in every run.
DiffTable MakeDiff(const std::vector<DiffInput>& before, const std::vector<DiffInput>& after,
                   View view, profile::Metric metric, bool framework);

// A row for each route, per request: what the measure that is shown counts for it, divided by how
// many requests it had. The total is of all of them. What belongs to no request has no row.
DiffTable MakeRequestDiff(const std::vector<DiffInput>& before, const std::vector<DiffInput>& after,
                          profile::Metric metric);
// How many requests a recording holds.
double RequestCount(const profile::Profile& profile);

// `text`: FILE or FILE@FROM..TO, a window of it. A file of that whole name wins.
InputOptions ParseWindow(const std::string& text);

}  // namespace clrscope::report
