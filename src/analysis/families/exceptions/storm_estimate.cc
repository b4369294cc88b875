// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/exceptions/storm_estimate.h"

#include <algorithm>
#include <cmath>

#include "analysis/families/windows/window_scale.h"

namespace clrscope::analysis {

using profile::Estimate;
using profile::kGroups;

namespace {

void AddTo(profile::Figure& figure, uint32_t cell, const Aggregate::Moment& m, Estimate e) {
  figure.cells[cell].value += e;
  figure.timed.push_back({cell, m.start_ns, m.end_ns, std::move(e)});
}

}  // namespace

void StormEstimate::Add(uint32_t process, uint64_t label, uint32_t cell, bool again,
                        std::span<const Aggregate::Moment> moments) {
  Process& p = processes_[process];
  for (const Aggregate::Moment& m : moments) {
    const bool first = p.sums.to_ns == 0;
    p.sums.from_ns = first ? m.start_ns : std::min(p.sums.from_ns, m.start_ns);
    p.sums.to_ns = std::max(p.sums.to_ns, m.end_ns);
    const auto thrown = static_cast<double>(m.sums.stands_for);
    if (label == profile::kStormCounted) {
      p.sums.counted += thrown;
      p.sums.counted_ns += static_cast<int64_t>(m.sums.amount);
      p.counted.push_back({cell, 0, false, m});
    } else if (label == profile::kStormWindows) {
      p.sums.windows += m.sums.samples;
      p.sums.windows_ns += static_cast<int64_t>(m.sums.amount);
    } else if (label >= 1 && label <= kGroups) {
      const double weighted = thrown + static_cast<double>(m.sums.amount);
      p.sums.weighted += weighted;
      p.sums.recorded += static_cast<double>(m.sums.samples);
      p.of_group[label - 1] += weighted;
      p.parts.push_back({cell, label - 1, again, m});
    }
  }
}

// What a weighted throw counts, and by how much that changes without each group.
struct StormEstimate::Scale : WindowScale {
  double less = 0;  // by how much less the windows alone say
  double edge = 0;  // variance of each that is counted: how far the counter may be off
  bool few = false;
};

StormEstimate::Scale StormEstimate::ScaleOf(const Process& p) {
  Scale s;
  const double all = p.sums.weighted;
  if (all <= 0) return s;
  const double counted = p.sums.in_all(), off = EdgeOf(p.sums, p.uncounted_s);
  static_cast<WindowScale&>(s) = WindowScale::Of(p.of_group, counted, p.sums.windows);
  s.few = s.alone || p.sums.windows < profile::kFewWindows;
  if (counted > 0) s.edge = off * off / counted;
  // .NET 9 and later write no event for `throw;`, which the counter counts. How long a window is,
  // is known to a tenth or so; more than that, and than chance, is no error.
  const double error = std::sqrt(s.squares * kGroups / (kGroups - 1));
  constexpr double kErrors = 3, kOfLengths = 0.1;
  if (counted - all > kErrors * error + kOfLengths * all) s.less = s.factor - 1;
  return s;
}

void StormEstimate::AddParts(const Process& p, profile::Figure& figure) {
  const Scale scale = ScaleOf(p);
  for (const Part& part : p.parts) {
    const profile::Sums& sums = part.moment.sums;
    // What was thrown again is told by the event on .NET 8, by the stack otherwise.
    const double first = part.again ? 0 : static_cast<double>(sums.stands_for);
    const double again =
        static_cast<double>(sums.amount) + (part.again ? static_cast<double>(sums.stands_for) : 0);
    Estimate e;
    e.samples = sums.samples;
    e.count = scale.factor * first;
    e.amount = scale.factor * again;
    const auto seen = static_cast<double>(sums.samples);
    e.seen_count = first + again > 0 ? std::min(e.count, seen * first / (first + again)) : 0;
    e.seen_amount = first + again > 0 ? std::min(e.amount, seen * again / (first + again)) : 0;
    e.var_count = scale.edge * e.count;
    e.var_amount = scale.edge * e.amount;
    profile::WindowGroups& w = e.windows.Make();
    scale.AddTo(w, part.group, first, again);
    w.less_count = first * scale.less;
    w.less_amount = again * scale.less;
    w.few = scale.few;
    AddTo(figure, part.cell, part.moment, std::move(e));
  }
  if (p.sums.weighted > 0) return;
  for (const Part& part : p.counted) {
    Estimate e;
    e.count = static_cast<double>(part.moment.sums.stands_for);
    e.windows.Make().few = true;
    if (e.count > 0) AddTo(figure, part.cell, part.moment, std::move(e));
  }
}

// What is exact of a process may have been thrown in the storm too, and no window saw it.
void StormEstimate::MarkCells(uint32_t index, const Process& p, profile::Figure& figure) {
  // A Poisson count whose mean this is has a chance of 2.5 % to be 0.
  constexpr double kMeanOfUnlikelyZero = 3.6888794541139363;
  const Scale scale = ScaleOf(p);
  const bool few = scale.few || p.sums.weighted <= 0;
  const double weight = p.sums.recorded > 0 ? p.sums.in_all() / p.sums.recorded : 0;
  for (profile::Cell& c : figure.cells) {
    if (c.process != index) continue;
    profile::WindowGroups& w = c.value.windows.Make();
    w.few = w.few || few;
    w.hidden = kMeanOfUnlikelyZero * weight;
  }
}

void StormEstimate::Finish(profile::Figure& figure) const {
  profile::Storms& all = figure.storms;
  for (const auto& [index, p] : processes_) {
    AddParts(p, figure);
    if (p.sums.in_all() > 0) MarkCells(index, p, figure);
    const bool first = !all.any();
    all.from_ns = first ? p.sums.from_ns : std::min(all.from_ns, p.sums.from_ns);
    all.to_ns = std::max(all.to_ns, p.sums.to_ns);
    all.counted += p.sums.in_all();
    all.by_counter = all.by_counter || p.sums.counted > 0;
    all.less = all.less || ScaleOf(p).less > 0;
    all.weighted += p.sums.weighted;
    all.recorded += p.sums.recorded;
    all.windows += p.sums.windows;
    all.windows_ns += p.sums.windows_ns;
    all.counted_ns += p.sums.counted_ns;
    all.edge += EdgeOf(p.sums, p.uncounted_s);
  }
}

}  // namespace clrscope::analysis
