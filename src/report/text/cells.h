// SPDX-License-Identifier: Apache-2.0
// Cells that the parts of a report's text share.
#pragma once

#include <string>

#include "report/json.h"
#include "report/rows/rows.h"

namespace clrscope::report {

// Of the measure that `p` shows.
std::string AmountText(const profile::Profile& p, const profile::Estimate& e);
// "" when counts are not known.
std::string CountText(const profile::Profile& p, const profile::Estimate& e);
// The 95 % interval, "" when there is none.
std::string AmountError(const profile::Profile& p, const profile::Estimate& e);
std::string CountError(const profile::Profile& p, const profile::Estimate& e,
                       profile::HeapKind kind);
// A value of a quantity: "1.2 MiB", "31.4 ms", "12,345".
std::string QuantityText(profile::Unit unit, double value, bool exact);
// A member of a row's key; "" for null.
std::string Text(const Json& value);
// "OrderService.cs:118" of a key with "file" and "line", "≈ " before where it is approximate; ""
// where it is not known.
std::string LineText(const Json& key);
// "0:05", "1:02:03"
std::string ClockText(double seconds);
// "… 12 more rows: -n 20", or "".
std::string More(const ReportTable& table);

}  // namespace clrscope::report
