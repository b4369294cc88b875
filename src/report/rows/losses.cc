// SPDX-License-Identifier: Apache-2.0
#include "report/rows/losses.h"

#include <fmt/format.h>

#include "report/text/humanize.h"
#include "report/text/wrap.h"

namespace clrscope::report {

Json LossesJson(const LossCounters& losses) {
  Json rows = Json::array();
  losses.ForEach([&](Loss loss, uint64_t count) {
    rows.push_back(
        {{"name", Describe(loss).name}, {"count", count}, {"sentence", Describe(loss).sentence}});
  });
  return rows;
}

std::string LossesText(const LossCounters& losses, size_t width) {
  std::string out;
  losses.ForEach([&](Loss loss, uint64_t count) {
    // That the input was cut is no quantity.
    const std::string n = loss == Loss::kTruncatedInput ? "" : Thousands(count) + " ";
    out += "! " + Wrap(n + std::string(Describe(loss).sentence), 2, 2, width);
  });
  return out;
}

std::string_view WhyNotHeld(const profile::Profile& p, profile::Measure measure) {
  if (measure == profile::Measure::kRequests && p.losses[Loss::kEventSourcesOff] != 0)
    return "the program has EventSource switched off (System.Diagnostics.Tracing.EventSource."
           "IsSupported is false in its runtimeconfig.json)";
  return profile::SpecOf(measure).none;
}

}  // namespace clrscope::report
