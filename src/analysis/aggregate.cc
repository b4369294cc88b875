// SPDX-License-Identifier: Apache-2.0
#include "analysis/aggregate.h"

#include <algorithm>
#include <utility>

namespace clrscope::analysis {

using profile::HeapKind;
using profile::Source;

namespace {

void AddAges(const profile::AgentInterval& interval, std::vector<profile::LiveAgeRow>& rows) {
  std::map<std::pair<HeapKind, uint8_t>, profile::Estimate> ages;
  for (const profile::IntervalLive& l : interval.frame.lives)
    if (!l.young) ages[{l.kind, l.age_bucket}] += l.value;
  // A moment at which nothing lived is a moment too.
  if (ages.empty()) ages[{HeapKind::kSoh, 0}] = {};
  for (const auto& [key, value] : ages)
    rows.push_back({interval.end_ns(), interval.process, key.first, key.second, value});
}

}  // namespace

void Aggregate::Add(const profile::Slice& slice) {
  if (!range_.Contains(slice)) return;
  if (slice.process >= sums_.size()) sums_.resize(slice.process + 1);
  std::vector<profile::Sums>& sums = sums_[slice.process];
  const std::vector<profile::SeriesKey>& keys = recording_->processes[slice.process]->series.keys();
  if (!slice.rows.empty() && slice.rows.back().series >= sums.size())
    sums.resize(slice.rows.back().series + 1);
  profile::Estimate by_kind[4][4];
  for (const profile::SliceRow& row : slice.rows) {
    sums[row.series] += row.sums;
    const profile::SeriesKey& key = keys[row.series];
    by_kind[static_cast<size_t>(key.kind())][static_cast<size_t>(key.source())] +=
        EstimateOf(key, row.sums);
  }
  for (size_t kind = 0; kind < 4; ++kind)
    for (size_t source = 0; source < 4; ++source)
      if (by_kind[kind][source].samples != 0)
        times_[{slice.start_ns, slice.end_ns, slice.process, static_cast<HeapKind>(kind),
                static_cast<Source>(source)}] += by_kind[kind][source];
  for (const profile::ThreadSums& t : slice.threads)
    threads_[{slice.process, t.thread, t.kind, t.source}] += t.value;
}

void Aggregate::Add(const profile::AgentInterval& interval) {
  const int64_t start = interval.start_ns(), end = interval.end_ns();
  if (!range_.Contains(start, end)) return;
  Agent& a = agents_[interval.process];
  const profile::IntervalFrame& f = interval.frame;
  for (const profile::IntervalFlow& r : f.flows) {
    a.flows[{r.node, r.type, r.kind}] += r.value;
    a.times[{start, end, r.kind}] += r.value;
  }
  if (f.live) {
    a.followed = true;
    a.lives = f.lives;
    a.live_at_ns = end;
    a.live_mean_bytes = f.meter.live_mean_bytes;
    AddAges(interval, a.live_ages);
  }
  profile::GcCpuRow row;
  row.process = interval.process;
  row.start_ns = start;
  row.end_ns = end;
  row.process_ns = f.cpu.process_ns;
  row.server_gc_ns = f.cpu.server_gc_ns;
  row.background_gc_ns = f.cpu.background_gc_ns;
  row.workstation_gc_ns = f.cpu.workstation_gc_ns;
  if (row.process_ns >= 0 || row.gc_ns() >= 0) a.gc_cpu.push_back(row);
}

}  // namespace clrscope::analysis
