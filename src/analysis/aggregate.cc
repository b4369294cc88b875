// SPDX-License-Identifier: Apache-2.0
#include "analysis/aggregate.h"

#include <algorithm>
#include <utility>

#include "analysis/families/live/agent_windows.h"
#include "profile/estimate/reservoir.h"

namespace clrscope::analysis {

using profile::Estimate;
using profile::HeapKind;
using profile::Source;

namespace {

void AddAges(const profile::AgentInterval& interval, std::vector<profile::LiveAgeRow>& rows) {
  const AgentWindows windows(interval.frame.all_windows);
  std::map<std::pair<HeapKind, uint8_t>, profile::Estimate> ages;
  for (const profile::IntervalLive& l : interval.frame.lives)
    if (!l.young) ages[{l.kind, l.age_bucket}] += windows.Of(l.value, l.window);
  // A moment at which nothing lived is a moment too.
  if (ages.empty()) ages[{HeapKind::kSoh, 0}] = {};
  for (const auto& [key, value] : ages)
    rows.push_back({interval.end_ns(), interval.process, key.first, key.second, value});
}

}  // namespace

void Aggregate::AddMoment(std::vector<Moment>& moments, const Moment& moment) const {
  if (keep_ != Keep::kSums || moments.empty()) return moments.push_back(moment);
  moments[0].end_ns = std::max(moments[0].end_ns, moment.end_ns);
  moments[0].sums += moment.sums;
}

void Aggregate::Add(const profile::Slice& slice) {
  if (!range_.Contains(slice)) return;
  if (slice.process >= sums_.size()) sums_.resize(slice.process + 1);
  std::vector<profile::Sums>& sums = sums_[slice.process];
  const profile::ProcessTables& tables = *recording_->processes[slice.process];
  const std::vector<profile::SeriesKey>& keys = tables.series.keys();
  if (!slice.rows.empty() && slice.rows.back().series >= sums.size())
    sums.resize(slice.rows.back().series + 1);
  constexpr size_t kKinds = 4;
  profile::Estimate by_kind[kKinds][profile::kSources];
  for (const profile::SliceRow& row : slice.rows) {
    sums[row.series] += row.sums;
    const profile::SeriesKey& key = keys[row.series];
    if (profile::IsEvent(key.source()) || profile::WindowOf(tables, key) != 0) {
      AddMoment(moments_[{slice.process, row.series}], {slice.start_ns, slice.end_ns, row.sums});
      continue;
    }
    by_kind[static_cast<size_t>(key.kind())][static_cast<size_t>(key.source())] +=
        EstimateOf(key, row.sums);
  }
  for (size_t kind = 0; kind < kKinds; ++kind)
    for (size_t source = 0; source < profile::kSources; ++source)
      if (by_kind[kind][source].samples != 0)
        times_[{slice.start_ns, slice.end_ns, slice.process, static_cast<HeapKind>(kind),
                static_cast<Source>(source)}] += by_kind[kind][source];
  AddThreads(slice);
  if (detail_.any()) AddParts(slice);
}

void Aggregate::AddThreads(const profile::Slice& slice) {
  for (const profile::ThreadSums& t : slice.threads) {
    threads_[{slice.process, t.thread, t.kind, t.source}] += t.value;
    if (profile::KeepsThreads(t.source)) apart_.insert(slice.process);
  }
  if (slice.parts.empty()) return;
  const profile::ProcessTables& tables = *recording_->processes[slice.process];
  const std::vector<profile::SeriesKey>& keys = tables.series.keys();
  // By the slice's own numbers of threads: a lookup for each of these alone.
  constexpr size_t kKinds = 4, kRow = kKinds * 2;
  std::vector<profile::Estimate> sums(slice.thread_ids.size() * kRow);
  for (const profile::ThreadPart& part : slice.parts) {
    const profile::SeriesKey& key = keys[part.series];
    if (profile::WindowOf(tables, key) != 0) {
      const uint64_t thread = slice.thread_ids[part.thread];
      if (thread == profile::kOtherThreads)
        other_threads_ += part.sums.samples;
      else
        AddMoment(windowed_parts_[{slice.process, part.series, thread}],
                  {slice.start_ns, slice.end_ns, part.sums});
      continue;
    }
    sums[part.thread * kRow + static_cast<size_t>(key.kind()) * 2 +
         (key.source() == Source::kTick ? 0 : 1)] += EstimateOf(key, part.sums);
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].samples == 0) continue;
    const uint64_t thread = slice.thread_ids[i / kRow];
    if (thread == profile::kOtherThreads) {
      other_threads_ += sums[i].samples;
      continue;
    }
    threads_[{slice.process, thread, static_cast<HeapKind>(i % kRow / 2),
              i % 2 == 0 ? Source::kTick : Source::kSampled}] += sums[i];
  }
}

void Aggregate::AddPart(const PartOf& of, const profile::Slice& slice, const profile::Sums& sums) {
  std::vector<Moment>& moments = parts_[of];
  if (detail_.times || moments.empty()) {
    moments.push_back({slice.start_ns, slice.end_ns, sums});
    return;
  }
  moments[0].start_ns = std::min(moments[0].start_ns, slice.start_ns);
  moments[0].end_ns = std::max(moments[0].end_ns, slice.end_ns);
  moments[0].sums += sums;
}

void Aggregate::AddParts(const profile::Slice& slice) {
  const profile::ProcessTables& tables = *recording_->processes[slice.process];
  const std::vector<profile::SeriesKey>& keys = tables.series.keys();
  size_t at = 0;
  for (const profile::SliceRow& row : slice.rows) {
    if (profile::IsEvent(keys[row.series].source()) ||
        profile::WindowOf(tables, keys[row.series]) != 0)
      continue;
    profile::Sums rest = row.sums;
    for (; at < slice.parts.size() && slice.parts[at].series <= row.series; ++at) {
      const profile::ThreadPart& part = slice.parts[at];
      if (part.series != row.series || !detail_.threads) continue;
      const uint64_t thread = slice.thread_ids[part.thread];
      AddPart({slice.process, row.series, thread == profile::kOtherThreads ? 0 : thread}, slice,
              part.sums);
      rest.samples -= part.sums.samples;
      rest.amount -= part.sums.amount;
      rest.stands_for -= part.sums.stands_for;
    }
    if (rest.samples != 0) AddPart({slice.process, row.series, 0}, slice, rest);
  }
}

void Aggregate::AddFlows(const profile::AgentInterval& interval, Agent& a) const {
  const int64_t start = interval.start_ns(), end = interval.end_ns();
  const profile::IntervalFrame& f = interval.frame;
  const auto add = [&](const profile::IntervalFlow& r, uint64_t thread, const Estimate& value) {
    std::vector<Agent::Part>& parts = a.parts[{r.node, r.type, r.kind, thread, r.window}];
    if (detail_.times || parts.empty()) {
      parts.push_back({start, end, value});
    } else {
      parts[0].end_ns = end;
      parts[0].value += value;
    }
  };
  std::map<Agent::FlowKey, std::vector<const profile::IntervalPart*>> parts_of;
  for (const profile::IntervalPart& p : f.parts)
    parts_of[{p.node, p.type, p.kind, p.window}].push_back(&p);
  a.threads_told = a.threads_told || !f.parts.empty();
  for (const profile::IntervalFlow& r : f.flows) {
    a.flows[{r.node, r.type, r.kind, r.window}] += r.value;
    a.times[{start, end, r.kind, r.window}] += r.value;
    const auto parts = parts_of.find({r.node, r.type, r.kind, r.window});
    if (parts != parts_of.end()) {
      Estimate left = r.value;  // what the agent had no room to tell apart
      for (const profile::IntervalPart* p : parts->second) {
        left.samples -= std::min(left.samples, p->value.samples);
        left.amount = std::max(left.amount - p->value.amount, 0.0);
        left.count = std::max(left.count - p->value.count, 0.0);
        const Estimate value = profile::PartOf(r.value, p->value);
        a.threads[{p->thread, r.kind, r.window}] += value;
        if (detail_.threads) add(r, p->thread, value);
      }
      parts_of.erase(parts);
      if (detail_.threads) {
        if (left.samples != 0) add(r, 0, profile::PartOf(r.value, left));
        continue;
      }
    }
    if (detail_.any()) add(r, 0, r.value);
  }
}

void Aggregate::Add(const profile::AgentInterval& interval) {
  const int64_t start = interval.start_ns(), end = interval.end_ns();
  if (!range_.Contains(start, end)) return;
  Agent& a = agents_[interval.process];
  const profile::IntervalFrame& f = interval.frame;
  AddFlows(interval, a);
  if (f.windows.ns > 0) {
    if (a.windows.ns == 0) a.windows_from_ns = start;
    a.windows_to_ns = end;
    a.windows += f.windows;
    a.windows_ns += f.overhead.windows[static_cast<size_t>(profile::OverheadPart::kAllocations)].ns;
  }
  a.all_windows = f.all_windows;
  for (const profile::IntervalEvent& r : f.events) {
    const profile::LabelSet labels = profile::LabelSet()
                                         .With(profile::LabelKey::kThread, r.thread)
                                         .With(profile::LabelKey::kOwner, r.owner)
                                         .With(profile::LabelKey::kUnfinished, r.unfinished);
    AddMoment(a.events[{r.source, r.node, r.type, labels}], {start, end, r.sums});
  }
  if (f.live) {
    a.followed = true;
    a.lives = f.lives;
    a.requests_told = f.requests;
    if (!detail_.requests && f.requests) {
      for (profile::IntervalLive& l : a.lives) l.request = 0;
      profile::MergeLives(a.lives);
    }
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
