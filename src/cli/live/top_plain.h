// SPDX-License-Identifier: Apache-2.0
// `top` without a screen: JSON lines for scripts, tables for logs.
#pragma once

#include <string>

#include "cli/live/top_model.h"

namespace clrscope::cli {

// One line: {"time_s":…, "totals":{…}, "gc":{…}, "processes":[…], "by":"type", "rows":[…]}.
std::string TopJsonLine(const TopModel& model, size_t limit);
std::string TopTable(const TopModel& model, size_t limit, size_t width);

}  // namespace clrscope::cli
