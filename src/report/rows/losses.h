// SPDX-License-Identifier: Apache-2.0
// What was lost, for JSON and for people.
#pragma once

#include <string>
#include <string_view>

#include "base/loss.h"
#include "profile/profile.h"
#include "report/json.h"

namespace clrscope::report {

// [{name, count, sentence}]
Json LossesJson(const LossCounters& losses);
// A sentence per loss, each on a line of its own or broken at `width`.
std::string LossesText(const LossCounters& losses, size_t width);
// Why a recording does not hold a measure: what a loss tells of it, or how it is recorded.
std::string_view WhyNotHeld(const profile::Profile& profile, profile::Measure measure);

}  // namespace clrscope::report
