// SPDX-License-Identifier: Apache-2.0
// Conditions under which a build fails: "alloc_bytes>+5%".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "report/rows/diff_rows.h"

namespace clrscope::report {

// METRIC, > or <, and a limit. METRIC: alloc_bytes, alloc_objects, or a quantity of the measure
// that is compared, as JSON calls it: bytes, count, wait_ns (of everything, as --per divides it);
// changed_rows. The limit: "+5%" (relative to before), "10MB", "20ms", "1000".
struct FailOn {
  std::string quantity;      // as JSON calls it, of any measure; "" = rows that changed
  bool allocations = false;  // alloc_…: of no other measure
  bool above = true;
  bool relative = false;  // `limit` is a share: 0.05
  double limit = 0;
  std::string text;

  bool changed_rows() const { return quantity.empty(); }
  // errors: kUsage: the measure has no such quantity
  Result<profile::Metric> MetricOf(const profile::MeasureSpec& measure) const;

  // A difference that noise explains never holds. Where no error is known (one recording a side, by
  // AllocationTick or of time that was waited) the figure alone decides.
  bool Holds(const profile::Difference& total, size_t changed) const;
};

// errors: kUsage
Result<FailOn> ParseFailOn(std::string_view text);

}  // namespace clrscope::report
