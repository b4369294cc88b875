// SPDX-License-Identifier: Apache-2.0
// Cells that the parts of a report's text share.
#pragma once

#include <string>

#include "cli/output.h"
#include "cli/report_rows.h"

namespace clrscope::cli {

std::string BytesText(const profile::Estimate& e);
// "" when objects are not known.
std::string ObjectsText(const profile::Profile& p, const profile::Estimate& e);
// The 95 % interval, "" when there is none.
std::string BytesError(const profile::Profile& p, const profile::Estimate& e);
std::string ObjectsError(const profile::Profile& p, const profile::Estimate& e,
                         profile::HeapKind kind);
// A member of a row's key; "" for null.
std::string Text(const Json& value);
// "0:05", "1:02:03"
std::string ClockText(double seconds);
// "… 12 more rows: -n 20", or "".
std::string More(const ReportTable& table);

}  // namespace clrscope::cli
