// SPDX-License-Identifier: Apache-2.0
// Conditions under which a build fails: "alloc_bytes>+5%".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/diff_rows.h"

namespace clrscope::cli {

// METRIC, > or <, and a limit. METRIC: alloc_bytes, alloc_objects (of everything, as --per divides
// it), changed_rows. The limit: "+5%" (relative to before), "10MB", "1000".
struct FailOn {
  enum class What { kBytes, kObjects, kChangedRows } what = What::kBytes;
  bool above = true;
  bool relative = false;  // `limit` is a share: 0.05
  double limit = 0;
  std::string text;

  // A difference that noise explains never holds. Where no error is known (one recording a side, by
  // AllocationTick) the figure alone decides.
  bool Holds(const profile::Difference& total, size_t changed_rows) const;
};

// errors: kUsage
Result<FailOn> ParseFailOn(std::string_view text);

}  // namespace clrscope::cli
