// SPDX-License-Identifier: Apache-2.0
// Differences between recordings: how large, how sure, and which of many are more than noise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "profile/estimate/estimate.h"

namespace clrscope::profile {

enum class Metric : uint8_t { kAmount, kCount };

// One row on one side of a comparison.
struct Measured {
  std::vector<Estimate> runs;     // one per recording
  std::vector<double> exposures;  // what each is divided by: 1, seconds or GCs; > 0
};

struct Pair {
  Measured before, after;
};

// before, after, difference: per unit of exposure; a side of several runs is their sum over the sum
// of their exposures. Intervals: 95 %, each for itself; of events before and after are exact.
struct Difference {
  double before = 0, after = 0, difference = 0;
  Interval before_interval, after_interval, difference_interval;
  bool has_interval = true;  // false: nothing is known of the error
  // The chance of a difference as large as this one when nothing changed; nothing where that is
  // unknown: one recording a side, by AllocationTick or of the time that was waited.
  std::optional<double> p_value;
  bool changed = false;  // set by NameChanges()
  // after / before - 1; nothing when there was nothing before.
  std::optional<double> ratio() const {
    return before > 0 ? std::optional(after / before - 1) : std::nullopt;
  }
};

// How differently the same program runs twice, beyond what sampling explains: squared relative
// standard deviation, of all rows together. Needs two recordings on a side; 0 where that is unknown
// (`known` says).
struct Spread {
  double squared = 0;
  bool known = false;
  // Of events: how much of the chance that is expected of independent ones shows between runs, as a
  // variance; below 1 where a program does the same in every run.
  double chance = 1;
};
Spread SpreadOf(std::span<const Pair> rows, Metric metric, Source source = Source::kSampled);

// One row. Sampling error: counts are compared by the conditional binomial test (right for few
// samples), intervals of differences by MOVER (Zou & Donner, Statistics in Medicine 27, 2008).
// Events (exceptions, waits) are all there, but a program's runs differ: how many came is taken as
// Poisson's, narrower where several runs show less; of the time that was waited one run a side says
// nothing.
// Where a side has several runs, their spread is added, by Student's t.
Difference Compare(const Pair& row, Metric metric, Source source, const Spread& spread);

// Marks the rows that changed: by Holm's procedure the chance that any row at all is marked
// although nothing changed is at most `family_error`.
inline constexpr double kFamilyError = 0.01;
void NameChanges(std::span<Difference> differences, double family_error = kFamilyError);

}  // namespace clrscope::profile
