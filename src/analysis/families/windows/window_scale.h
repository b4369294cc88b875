// SPDX-License-Identifier: Apache-2.0
// What parts of a whole stand for, where each belongs to one of sixteen random groups: the combined
// ratio estimator (Cochran, Sampling Techniques, 3rd edition, 6.11), and by how much it changes
// without each group (the jackknife).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "profile/estimate/estimate.h"

namespace clrscope::analysis {

// Of one window nothing is known but what it saw: half the 97.5 % quantile of chi-square with 4
// degrees of freedom, the upper end of a Poisson mean of which one event was seen.
inline constexpr double kMostOfOneWindow = 5.5716;

inline void MarkOneWindow(const profile::Estimate& e, profile::WindowGroups& groups) {
  groups.less_amount = e.amount - e.seen_amount;
  groups.less_count = e.count - e.seen_count;
  groups.more_amount = (kMostOfOneWindow - 1) * e.amount;
  groups.more_count = (kMostOfOneWindow - 1) * e.count;
}

struct WindowScale {
  double factor = 1;  // what a weighted event counts
  std::array<double, profile::kGroups> without{};
  uint8_t groups = 0;
  bool alone = false;  // one group saw everything

  // `of_group`: of all windows of the group, the same as `whole` is of everything.
  static WindowScale Of(const std::array<double, profile::kGroups>& of_group, double whole,
                        uint64_t windows) {
    WindowScale s;
    s.groups = static_cast<uint8_t>(std::min<uint64_t>(profile::kGroups, windows));
    double all = 0;
    for (const double g : of_group) all += g;
    if (all <= 0) return s;
    s.factor = whole / all;
    for (size_t g = 0; g < profile::kGroups; ++g) {
      const double rest = all - of_group[g];
      // Sums of fractions: nothing may be left as next to nothing.
      constexpr double kNothing = 1e-9;
      const bool nothing = rest <= kNothing * all;
      s.alone = s.alone || nothing;
      s.without[g] = nothing ? 0 : whole / rest - s.factor;
    }
    return s;
  }
  // A part of one group's, into the differences of its row.
  void AddTo(profile::WindowGroups& w, size_t group, double count, double amount) const {
    for (size_t g = 0; g < profile::kGroups; ++g) {
      const double change = g == group ? -factor : without[g];
      w.count[g] = static_cast<float>(count * change);
      w.amount[g] = static_cast<float>(amount * change);
    }
    w.groups = groups;
  }
};

}  // namespace clrscope::analysis
