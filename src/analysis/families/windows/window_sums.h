// SPDX-License-Identifier: Apache-2.0
// What windows of time say of all that a process did meanwhile. How much that was is known where a
// counter of the runtime tells it; what windows hold is scaled to that. Where none does, or where
// it cannot be right, each moment had the same chance to be in a window, and together they stand
// for the time in which there were windows (Hájek's estimator: Horvitz and Thompson's, scaled to
// that time). docs/decisions/0015-storms.md, 0019-overhead.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "analysis/aggregate.h"
#include "analysis/families/windows/window_scale.h"
#include "base/loss.h"
#include "profile/profile.h"

namespace clrscope::analysis {

// `loss`: one that is counted in milliseconds.
inline double UncountedSeconds(const LossCounters& losses, Loss loss) {
  constexpr double kMsPerSecond = 1000;
  return static_cast<double>(losses[loss]) / kMsPerSecond;
}

class WindowSums {
 public:
  // `label`: of LabelKey::kWindow, above kWindowGroups.
  void AddMark(uint64_t label, const Aggregate::Moment& mark);
  // What windows of a group hold, weighted by the share of time that they are; `recorded` of it.
  void Add(size_t group, double weighted, double recorded, const Aggregate::Moment& moment);
  // The runtime's counter did not cover `seconds` of the time: totals may be off by what they had.
  void NoteUncounted(double seconds) { uncounted_s_ = seconds; }

  // Call this after the last Add(). What follows is known from then on. `one_second`:
  // BindOptions::one_second. `contradict`: windows that say significantly more than the counter
  // show that it is wrong.
  void Finish(bool one_second, bool contradict);
  const profile::Storms& storms() const { return sums_; }
  bool by_counter() const { return sums_.by_counter; }
  const WindowScale& scale() const { return scale_; }
  // By how much less each weighted event counts by the windows alone, where the counter says
  // significantly more.
  double less() const { return less_; }
  // The variance of each that there was: how far the counter may be off.
  double edge_variance() const;
  // By how much more an event may count by the windows alone, as far as their lengths are known.
  double more() const { return more_; }
  // What an event in a window stands for, on average.
  double weight() const;
  // There is time of which nothing is known.
  bool open() const { return open_; }
  // Into `to`, which is of a process or of several.
  void AddTo(profile::Storms& to) const;

 private:
  using PerGroup = std::array<double, profile::kGroups>;
  void NoteTime(const Aggregate::Moment& moment);
  double Error() const;

  profile::Storms sums_;
  PerGroup of_group_{}, of_ns_{};
  double counted_ = 0, weighted_ = 0, stands_for_ns_ = 0, uncounted_s_ = 0;
  bool wrong_ = false, open_ = false;
  WindowScale by_time_, scale_;
  double less_ = 0, more_ = 0;
};

}  // namespace clrscope::analysis
