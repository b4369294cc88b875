// SPDX-License-Identifier: Apache-2.0
// A source file beside its figures.
#pragma once

#include <string>
#include <vector>

#include "report/input/source_code.h"
#include "report/rows/source_rows.h"
#include "report/text/table.h"

namespace clrscope::report {

// The lines with figures and some around them; `whole`: all of the file.
std::string SourceFileText(const std::vector<SourceRow>& rows, const SourceCode& text,
                           const profile::Profile& profile, bool whole, const TextOptions& options);

}  // namespace clrscope::report
