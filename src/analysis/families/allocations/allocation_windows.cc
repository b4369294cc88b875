// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/allocations/allocation_windows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "profile/estimate/counting.h"

namespace clrscope::analysis {

using profile::Estimate;
using profile::kGroups;

Estimate AllocationWindows::Weighted(const profile::SeriesKey& key, const profile::Sums& sums) {
  Estimate e = EstimateOf(key, sums);
  if (key.source() == profile::Source::kSampled) {
    const double weight = static_cast<double>(sums.stands_for) / profile::kWindowUnit /
                          static_cast<double>(std::max<uint64_t>(1, sums.samples));
    e.amount *= weight;
    e.count *= weight;
    e.var_amount *= weight * weight;
    e.var_count *= weight * weight;
  }
  e.max_amount = e.max_count = 0;
  return e;
}

void AllocationWindows::Add(uint32_t process, uint64_t label, const profile::SeriesKey& key,
                            uint32_t cell, std::span<const Aggregate::Moment> moments, bool timed) {
  Process& p = processes_[process];
  for (const Aggregate::Moment& m : moments) {
    Part part{cell, 0, key.kind(), timed, 0, m.start_ns, m.end_ns, {}};
    if (label > kGroups) {
      p.sums.AddMark(label, m);
      if (label != profile::kStormCounted) continue;
      part.weighted.amount = static_cast<double>(m.sums.stands_for);
      p.counted.push_back(std::move(part));
    } else {
      part.group = label - 1;
      part.weighted = Weighted(key, m.sums);
      p.sums.Add(part.group, part.weighted.amount, part.weighted.seen_amount, m);
      p.parts.push_back(std::move(part));
    }
  }
}

void AllocationWindows::AddThread(uint32_t process, uint64_t label, const profile::SeriesKey& key,
                                  uint64_t thread, std::span<const Aggregate::Moment> moments) {
  if (label < 1 || label > kGroups) return;
  for (const Aggregate::Moment& m : moments)
    processes_[process].threads.push_back(
        {0, label - 1, key.kind(), false, thread, m.start_ns, m.end_ns, Weighted(key, m.sums)});
}

class AllocationWindows::Scaler {
 public:
  // `most`: that there may be of anything.
  Scaler(const WindowSums& sums, double most)
      : sums_(sums), few_(sums.scale().alone || sums.storms().windows < 2), most_(most) {}
  Estimate Of(const Part& part) const {
    const Estimate& w = part.weighted;
    const WindowScale& scale = sums_.scale();
    Estimate e;
    e.samples = w.samples;
    e.biased = w.biased;
    e.amount = scale.factor * w.amount;
    e.count = scale.factor * w.count;
    e.seen_amount = std::min(w.seen_amount, e.amount);
    e.seen_count = std::min(w.seen_count, e.count);
    const double edge = sums_.edge_variance();
    e.var_amount = edge * e.amount;
    if (e.amount > 0) e.var_count = edge * e.count * e.count / e.amount;
    profile::WindowGroups& groups = e.windows.Make();
    const bool one = few_ && !sums_.by_counter();
    if (!one) scale.AddTo(groups, part.group, w.count, w.amount);
    if (!sums_.by_counter()) {
      // No less than if everything had come by itself.
      groups.least_amount = scale.factor * scale.factor * w.var_amount;
      groups.least_count = scale.factor * scale.factor * w.var_count;
    }
    if (one) {
      MarkOneWindow(e, groups);
      return e;
    }
    groups.less_count = w.count * sums_.less();
    groups.less_amount = w.amount * sums_.less();
    groups.more_count = w.count * sums_.more();
    groups.more_amount = w.amount * sums_.more();
    if (few_) {
      groups.few = true;
      groups.unseen_amount = most_;
      groups.unseen_count = most_ / static_cast<double>(profile::kSmallestObject);
    }
    return e;
  }

  // By the counter alone.
  Estimate Counted(const Part& part) const {
    Estimate e = part.weighted;
    e.var_amount = sums_.edge_variance() * e.amount;
    profile::WindowGroups& groups = e.windows.Make();
    groups.left = true;
    groups.more_count = e.amount / static_cast<double>(profile::kSmallestObject);
    return e;
  }

 private:
  const WindowSums& sums_;
  bool few_ = false;
  double most_ = 0;
};

void AllocationWindows::Finish(profile::Figure& figure, std::map<TimeOf, Estimate>& times,
                               std::map<ThreadOf, Estimate>& threads, bool one_second) {
  for (auto& [index, p] : processes_) {
    p.sums.Finish(one_second, true);
    p.sums.AddTo(figure.windows);
  }
  const double most = figure.Total().amount + figure.windows.in_all();
  const auto add = [&](uint32_t process, const Part& part, const Estimate& e) {
    figure.cells[part.cell].value += e;
    times[{part.start_ns, part.end_ns, process, part.kind}] += e;
    if (part.timed) figure.timed.push_back({part.cell, part.start_ns, part.end_ns, e});
  };
  for (const auto& [index, p] : processes_) {
    const Scaler scaler(p.sums, most);
    for (const Part& part : p.parts) add(index, part, scaler.Of(part));
    for (const Part& part : p.threads) threads[{index, part.thread, part.kind}] += scaler.Of(part);
    // No window saw anything: it is known how much there was, or next to nothing is.
    if (p.parts.empty() && p.sums.by_counter())
      for (const Part& part : p.counted)
        if (part.weighted.amount > 0) add(index, part, scaler.Counted(part));
    if (!p.sums.open()) continue;
    for (profile::Cell& c : figure.cells)
      if (c.process == index) c.value.windows.Make().open = true;
  }
}

}  // namespace clrscope::analysis
