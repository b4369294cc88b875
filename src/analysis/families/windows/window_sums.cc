// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/windows/window_sums.h"

#include <algorithm>
#include <cmath>

namespace clrscope::analysis {

using profile::kGroups;

void WindowSums::NoteTime(const Aggregate::Moment& m) {
  const bool first = sums_.to_ns == 0;
  sums_.from_ns = first ? m.start_ns : std::min(sums_.from_ns, m.start_ns);
  sums_.to_ns = std::max(sums_.to_ns, m.end_ns);
}

void WindowSums::AddMark(uint64_t label, const Aggregate::Moment& m) {
  NoteTime(m);
  const auto ns = static_cast<int64_t>(m.sums.amount);
  const auto stands_for = static_cast<double>(m.sums.stands_for);
  if (label == profile::kStormCounted) {
    counted_ += stands_for;
    sums_.counted_ns += ns;
  } else if (label == profile::kStormUncounted) {
    sums_.uncounted_ns += ns;
    wrong_ = wrong_ || m.sums.stands_for != 0;
    sums_.told += stands_for;
  } else if (label >= profile::kStormWindows && label < profile::kStormUncounted) {
    sums_.windows += m.sums.samples;
    sums_.windows_ns += ns;
    if (label == profile::kStormWindows) return;  // an old capture
    of_ns_[label - profile::kStormWindows - 1] += stands_for;
    stands_for_ns_ += stands_for;
  }
}

void WindowSums::Add(size_t group, double weighted, double recorded, const Aggregate::Moment& m) {
  NoteTime(m);
  of_group_[group] += weighted;
  weighted_ += weighted;
  sums_.recorded += recorded;
}

// Of all together by the windows alone: how it changes without each group.
double WindowSums::Error() const {
  double squares = 0;
  for (size_t g = 0; g < kGroups; ++g) {
    const double without = (weighted_ - of_group_[g]) * (by_time_.factor + by_time_.without[g]);
    const double off = without - sums_.weighted;
    squares += off * off;
  }
  return std::sqrt(squares * (kGroups - 1) / kGroups);
}

void WindowSums::Finish(bool one_second, bool contradict) {
  const auto ns = static_cast<double>(sums_.counted_ns + sums_.uncounted_ns);
  if (stands_for_ns_ <= 0 || ns <= 0) {
    // How long windows went on is not known: each stands for as much as the others.
    of_ns_.fill(1);
    by_time_ = WindowScale::Of(of_ns_, kGroups, sums_.windows);
  } else {
    by_time_ = WindowScale::Of(of_ns_, one_second ? stands_for_ns_ : ns, sums_.windows);
  }
  sums_.weighted = by_time_.factor * weighted_;

  // How long a window is, is known to a tenth or so, and what begins or ends does so within what a
  // window stands for; more than that, and than chance, is no error. What comes in bursts may be in
  // no window, but none can hold what there was not.
  constexpr double kErrors = 3, kOfLengths = 0.1, kOfEnds = 2, kMostUncounted = 0.25;
  const double error = Error();
  const double lengths =
      sums_.weighted *
      (kOfLengths + kOfEnds / static_cast<double>(std::max<uint64_t>(1, sums_.windows)));
  const bool most_told = static_cast<double>(sums_.uncounted_ns) <= kMostUncounted * ns;
  const bool windows_tell = sums_.windows > 1 && weighted_ > 0;
  const bool told =
      sums_.counted_ns > 0 && (most_told || !windows_tell) && (counted_ > 0 || weighted_ <= 0);
  const bool less_told = contradict && sums_.windows >= profile::kFewWindows &&
                         sums_.weighted - counted_ > (kErrors + 1) * error + lengths;
  sums_.contradicted = wrong_ || (told && less_told);
  sums_.by_counter = told && !sums_.contradicted;
  // Windows that saw nothing do not say that there was nothing. Of seconds some have no window.
  open_ = !one_second && (sums_.by_counter ? !most_told : ns > 0 && weighted_ <= 0);
  sums_.open = open_ && (sums_.by_counter || sums_.windows == 0);
  if (!sums_.by_counter) {
    sums_.told += counted_;
    scale_ = by_time_;
    // Both ends of a window together are known to so much.
    constexpr double kEnds = 1e6;
    const double unsure =
        std::min(1.0, kEnds * static_cast<double>(sums_.windows) /
                          static_cast<double>(std::max<int64_t>(1, sums_.windows_ns)));
    less_ = more_ = scale_.factor * unsure;
    return;
  }
  sums_.counted = counted_;
  scale_ = WindowScale::Of(of_group_, counted_, sums_.windows);
  // .NET 9 and later write no event for `throw;`, which the counter counts.
  if (sums_.weighted > 0 && counted_ - sums_.weighted > kErrors * error + lengths) {
    sums_.less = true;
    const double least = std::max(0.0, 1 - profile::kNormalQuantile * error / sums_.weighted);
    less_ = scale_.factor - by_time_.factor * least;
  }
  // Where the counter begins, and where the session that records everything ends, is known to some
  // milliseconds. What is known to be uncounted may be of another part of the recording.
  constexpr double kEdgeS = 0.01;
  const double uncounted_s =
      std::min(uncounted_s_, (static_cast<double>(sums_.uncounted_ns) + kMostUncounted * ns) / 1e9);
  sums_.edge = counted_ / (static_cast<double>(sums_.counted_ns) / 1e9) * (kEdgeS + uncounted_s);
}

double WindowSums::weight() const {
  return sums_.windows_ns > 0
             ? by_time_.factor * stands_for_ns_ / static_cast<double>(sums_.windows_ns)
             : 0;
}

double WindowSums::edge_variance() const {
  return sums_.counted > 0 ? sums_.edge * sums_.edge / sums_.counted : 0;
}

void WindowSums::AddTo(profile::Storms& to) const {
  const bool first = !to.any();
  to.from_ns = first ? sums_.from_ns : std::min(to.from_ns, sums_.from_ns);
  to.to_ns = std::max(to.to_ns, sums_.to_ns);
  to.counted += sums_.in_all();
  to.told += sums_.told;
  to.weighted += sums_.weighted;
  to.recorded += sums_.recorded;
  to.edge += sums_.edge;
  to.windows += sums_.windows;
  to.windows_ns += sums_.windows_ns;
  to.counted_ns += sums_.counted_ns;
  to.uncounted_ns += sums_.uncounted_ns;
  to.by_counter = to.by_counter || sums_.by_counter;
  to.by_windows = to.by_windows || !sums_.by_counter;
  to.contradicted = to.contradicted || sums_.contradicted;
  to.less = to.less || sums_.less;
  to.open = to.open || sums_.open;
}

}  // namespace clrscope::analysis
