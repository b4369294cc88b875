// SPDX-License-Identifier: Apache-2.0
// `inspect` of a capture, and the parts that it shares with `inspect` of a trace.
#pragma once

#include <string>

#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "profile/tables/process_tables.h"

namespace clrscope::cli {

// Returns the exit code.
int InspectCapture(const std::string& path, bool json, const report::Style& style);

report::Json ProcessesJson(const profile::Recording& recording);
std::string ProcessesText(const profile::Recording& recording, size_t width);

}  // namespace clrscope::cli
