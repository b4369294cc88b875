// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/exceptions/storm_estimate.h"

#include <algorithm>
#include <utility>

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
    if (label > kGroups) {
      p.sums.AddMark(label, m);
      if (label == profile::kStormCounted) p.counted.push_back({cell, 0, false, m});
    } else {
      p.sums.Add(label - 1, static_cast<double>(m.sums.stands_for + m.sums.amount),
                 static_cast<double>(m.sums.samples), m);
      p.parts.push_back({cell, label - 1, again, m});
    }
  }
}

void StormEstimate::AddParts(const Process& p, profile::Figure& figure) {
  const WindowScale& scale = p.sums.scale();
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
    e.var_count = p.sums.edge_variance() * e.count;
    e.var_amount = p.sums.edge_variance() * e.amount;
    profile::WindowGroups& w = e.windows.Make();
    scale.AddTo(w, part.group, first, again);
    w.less_count = first * p.sums.less();
    w.less_amount = again * p.sums.less();
    w.more_count = first * p.sums.more();
    w.more_amount = again * p.sums.more();
    w.few = p.few();
    if (!p.sums.by_counter() && seen > 0) {
      // No less than if each had come by itself.
      const double weight = (e.count + e.amount) / seen;
      w.least_count = weight * e.count;
      w.least_amount = weight * e.amount;
    }
    AddTo(figure, part.cell, part.moment, std::move(e));
  }
  if (!p.parts.empty() || !p.sums.by_counter()) return;
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
  const profile::Storms& s = p.sums.storms();
  const double weight = s.recorded > 0 ? s.in_all() / s.recorded : p.sums.weight();
  for (profile::Cell& c : figure.cells) {
    if (c.process != index) continue;
    profile::WindowGroups& w = c.value.windows.Make();
    w.few = w.few || p.few();
    w.hidden = kMeanOfUnlikelyZero * weight;
  }
}

void StormEstimate::Finish(profile::Figure& figure, bool one_second) {
  for (auto& [index, p] : processes_) {
    // What begins while the program runs sees too much of one that is stopped by a CPU quota, and
    // nothing is known to make exception-count too low.
    p.sums.Finish(one_second, false);
    AddParts(p, figure);
    if (p.sums.storms().in_all() > 0 || !p.sums.by_counter()) MarkCells(index, p, figure);
    p.sums.AddTo(figure.storms);
  }
}

}  // namespace clrscope::analysis
