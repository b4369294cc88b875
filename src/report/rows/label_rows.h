// SPDX-License-Identifier: Apache-2.0
// Rows by what the labels of events say.
#pragma once

#include "report/rows/rows.h"

namespace clrscope::report {

// Who held the locks that were waited for.
void OwnerRows(const profile::Profile& profile, const RowOptions& options, ReportTable& table);
// Exceptions by what they say.
void MessageRows(const profile::Profile& profile, const RowOptions& options, ReportTable& table);
// Wall time by what the threads did.
void StateRows(const profile::Profile& profile, const RowOptions& options, ReportTable& table);

}  // namespace clrscope::report
