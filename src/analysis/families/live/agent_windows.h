// SPDX-License-Identifier: Apache-2.0
// What the agent sampled in windows of time, with what it stands for and how far off that may be:
// each moment had the same chance to be in a window, and together they stand for the time in which
// there were windows (Hájek's estimator: Horvitz and Thompson's, scaled to that time). How they
// differ by groups is the error (profile/estimate/window_groups.h). Of a single one nothing is
// known of that: it stands for its own period, within the limits of a Poisson law of which one
// event was seen. docs/decisions/0019-overhead.md
#pragma once

#include <algorithm>
#include <array>

#include "analysis/families/windows/window_scale.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::analysis {

class AgentWindows {
 public:
  explicit AgentWindows(const profile::IntervalWindows& w) {
    std::array<double, profile::kGroups> of_group{};
    for (size_t g = 0; g < profile::kGroups; ++g) of_group[g] = static_cast<double>(w.of_ns[g]);
    few_ = w.count < 2;
    scale_ = WindowScale::Of(of_group, few_ ? w.all_of_ns() : static_cast<double>(w.ns), w.count);
    // All windows may be of one group by chance. Their differences are unknown then, too.
    few_ = few_ || scale_.alone;
  }

  // `window` is the row's, from 1. 0: it was sampled all the time and stands for itself.
  profile::Estimate Of(const profile::Estimate& value, uint8_t window) const {
    if (window == 0 || window > profile::kGroups || value.none()) return value;
    profile::Estimate e = value;
    e.amount *= scale_.factor;
    e.count *= scale_.factor;
    e.seen_amount = std::min(value.seen_amount, e.amount);
    e.seen_count = std::min(value.seen_count, e.count);
    profile::WindowGroups& groups = e.windows.Make();
    if (!few_) scale_.AddTo(groups, window - size_t{1}, value.count, value.amount);
    // No less than if everything had come by itself.
    groups.least_amount = value.var_amount;
    groups.least_count = value.var_count;
    if (few_) MarkOneWindow(e, groups);
    e.var_amount = e.var_count = 0;
    return e;
  }

 private:
  WindowScale scale_;
  bool few_ = false;
};

}  // namespace clrscope::analysis
