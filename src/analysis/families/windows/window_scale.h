// SPDX-License-Identifier: Apache-2.0
// What windows of time say, scaled to what a counter of the runtime says: the combined ratio
// estimator (Cochran, Sampling Techniques, 3rd edition, 6.11), and by how much it changes without
// each group of windows (the jackknife).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/loss.h"
#include "profile/estimate/window_groups.h"
#include "profile/profile.h"

namespace clrscope::analysis {

// `loss`: one that is counted in milliseconds.
inline double UncountedSeconds(const LossCounters& losses, Loss loss) {
  constexpr double kMsPerSecond = 1000;
  return static_cast<double>(losses[loss]) / kMsPerSecond;
}

// By how much `counted` of a process may be off, a standard error: where the counter begins, and
// where the session that records everything ends, is known to some milliseconds. `uncounted_s`: of
// so long no counter told.
inline double EdgeOf(const profile::Storms& process, double uncounted_s) {
  constexpr double kEdgeS = 0.01;
  const double seconds = static_cast<double>(std::max<int64_t>(1, process.counted_ns)) / 1e9;
  return process.counted / seconds * (kEdgeS + uncounted_s);
}

struct WindowScale {
  double factor = 1;  // what a weighted event counts
  std::array<double, profile::kGroups> without{};
  double squares = 0;  // of how groups differ
  uint8_t groups = 0;
  bool alone = false;  // one group saw everything

  // `of_group`: weighted, of all windows of the group. `counted`: by the counter.
  static WindowScale Of(const std::array<double, profile::kGroups>& of_group, double counted,
                        uint64_t windows) {
    WindowScale s;
    s.groups = static_cast<uint8_t>(std::min<uint64_t>(profile::kGroups, windows));
    double all = 0;
    for (const double g : of_group) all += g;
    if (all <= 0) return s;
    s.factor = counted / all;
    for (size_t g = 0; g < profile::kGroups; ++g) {
      const double rest = all - of_group[g];
      // Sums of fractions: nothing may be left as next to nothing.
      constexpr double kNothing = 1e-9;
      const bool nothing = rest <= kNothing * all;
      s.alone = s.alone || nothing;
      s.without[g] = nothing ? 0 : counted / rest - s.factor;
      const double off = of_group[g] - all / profile::kGroups;
      s.squares += off * off;
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
