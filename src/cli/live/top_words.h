// SPDX-License-Identifier: Apache-2.0
// Figures as `top` shows them on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/live/top_model.h"

namespace clrscope::cli {

// The last `width` values as bars, as high as their share of the largest.
std::string SparkText(const std::vector<double>& values, size_t width);
// Of a rate over the window, "±12 %"; "~" when the event has no known error.
std::string ErrorText(const profile::Estimate& e, bool biased);
// Values of the quantity that rows are sorted by, and of the other one.
std::string FirstText(const TopModel& m, double value);
std::string OtherText(const TopModel& m, double value);

}  // namespace clrscope::cli
