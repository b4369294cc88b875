// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/allocations/allocation_windows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/families/windows/window_scale.h"
#include "profile/estimate/counting.h"

namespace clrscope::analysis {

using profile::Estimate;
using profile::kGroups;

namespace {

// Without an error: that is between windows.
Estimate Weighted(const profile::SeriesKey& key, const profile::Sums& sums) {
  Estimate e = EstimateOf(key, sums);
  if (key.source() == profile::Source::kSampled) {
    const double weight = static_cast<double>(sums.stands_for) / profile::kWindowUnit /
                          static_cast<double>(std::max<uint64_t>(1, sums.samples));
    e.amount *= weight;
    e.count *= weight;
  }
  e.var_amount = e.var_count = e.max_amount = e.max_count = 0;
  return e;
}

}  // namespace

void AllocationWindows::Add(uint32_t process, uint64_t label, const profile::SeriesKey& key,
                            uint32_t cell, std::span<const Aggregate::Moment> moments, bool timed) {
  Process& p = processes_[process];
  for (const Aggregate::Moment& m : moments) {
    const bool first = p.sums.to_ns == 0;
    p.sums.from_ns = first ? m.start_ns : std::min(p.sums.from_ns, m.start_ns);
    p.sums.to_ns = std::max(p.sums.to_ns, m.end_ns);
    Part part{cell, 0, key.kind(), timed, 0, m.start_ns, m.end_ns, {}};
    if (label == profile::kStormCounted) {
      const auto bytes = static_cast<double>(m.sums.stands_for);
      p.sums.counted += bytes;
      p.sums.counted_ns += static_cast<int64_t>(m.sums.amount);
      part.weighted.amount = bytes;
      p.counted.push_back(std::move(part));
    } else if (label == profile::kStormWindows) {
      p.sums.windows += m.sums.samples;
      p.sums.windows_ns += static_cast<int64_t>(m.sums.amount);
    } else if (label >= 1 && label <= kGroups) {
      part.group = label - 1;
      part.weighted = Weighted(key, m.sums);
      p.sums.weighted += part.weighted.amount;
      p.sums.recorded += part.weighted.seen_amount;
      p.of_group[part.group] += part.weighted.amount;
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
  Scaler(const Process& p, double most)
      : scale_(WindowScale::Of(p.of_group, p.sums.in_all(), p.sums.windows)) {
    const double edge = EdgeOf(p.sums, p.uncounted_s);
    all_ = p.sums.in_all();
    edge_ = p.sums.in_all() > 0 ? edge * edge / p.sums.in_all() : 0;
    few_ = scale_.alone || p.sums.windows < 2;
    if (few_) unseen_ = most;
  }
  Estimate Of(const Part& part) const {
    const Estimate& w = part.weighted;
    Estimate e;
    e.samples = w.samples;
    e.biased = w.biased;
    e.amount = scale_.factor * w.amount;
    e.count = scale_.factor * w.count;
    e.seen_amount = std::min(w.seen_amount, e.amount);
    e.seen_count = std::min(w.seen_count, e.count);
    e.var_amount = edge_ * e.amount;
    if (e.amount > 0) e.var_count = edge_ * e.count * e.count / e.amount;
    profile::WindowGroups& groups = e.windows.Make();
    scale_.AddTo(groups, part.group, w.count, w.amount);
    groups.few = few_;
    groups.unseen_amount = unseen_;
    groups.unseen_count = unseen_ / static_cast<double>(profile::kSmallestObject);
    return e;
  }

  // By the counter alone.
  Estimate Counted(const Part& part) const {
    Estimate e = part.weighted;
    e.var_amount = edge_ * e.amount;
    profile::WindowGroups& groups = e.windows.Make();
    groups.left = true;
    groups.unseen_amount = 2 * all_;
    groups.unseen_count = all_ / static_cast<double>(profile::kSmallestObject);
    return e;
  }

 private:
  WindowScale scale_;
  double unseen_ = 0;  // 0: windows tell how they differ
  double edge_ = 0, all_ = 0;
  bool few_ = false;
};

void AllocationWindows::Finish(profile::Figure& figure, std::map<TimeOf, Estimate>& times,
                               std::map<ThreadOf, Estimate>& threads) const {
  profile::Storms& all = figure.windows;
  for (const auto& [index, p] : processes_) {
    const bool first = !all.any();
    all.from_ns = first ? p.sums.from_ns : std::min(all.from_ns, p.sums.from_ns);
    all.to_ns = std::max(all.to_ns, p.sums.to_ns);
    all.counted += p.sums.in_all();
    all.by_counter = all.by_counter || p.sums.counted > 0;
    all.weighted += p.sums.weighted;
    all.recorded += p.sums.recorded;
    all.windows += p.sums.windows;
    all.windows_ns += p.sums.windows_ns;
    all.counted_ns += p.sums.counted_ns;
  }
  const double most = figure.Total().amount + all.in_all();
  const auto add = [&](uint32_t process, const Part& part, const Estimate& e) {
    figure.cells[part.cell].value += e;
    times[{part.start_ns, part.end_ns, process, part.kind}] += e;
    if (part.timed) figure.timed.push_back({part.cell, part.start_ns, part.end_ns, e});
  };
  for (const auto& [index, p] : processes_) {
    const Scaler scaler(p, most);
    for (const Part& part : p.parts) add(index, part, scaler.Of(part));
    for (const Part& part : p.threads) threads[{index, part.thread, part.kind}] += scaler.Of(part);
    if (p.sums.weighted > 0) continue;
    // No window saw anything: it is known how much there was.
    for (const Part& part : p.counted)
      if (part.weighted.amount > 0) add(index, part, scaler.Counted(part));
  }
}

}  // namespace clrscope::analysis
