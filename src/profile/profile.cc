// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace clrscope::profile {

bool Profile::by_callbacks() const {
  return counted() && !processes.empty() &&
         std::all_of(processes.begin(), processes.end(),
                     [](const Process& p) { return p.by_agent; });
}

bool Profile::exact() const {
  if (by_callbacks())
    return losses[Loss::kAgentFrames] == 0 && losses[Loss::kAgentSamples] == 0 &&
           std::all_of(processes.begin(), processes.end(),
                       [](const Process& p) { return p.complete; });
  return counted() && !processes.empty() &&
         std::all_of(processes.begin(), processes.end(), [](const Process& p) {
           const Counting& c = p.counting;
           return c.mode == CountMode::kAll && c.ended && c.gaps == 0 && !p.dropped;
         });
}

std::optional<double> Profile::MissingHigh() const {
  if (!counted() || !whole) return std::nullopt;
  double sum = 0;
  for (const Process& p : processes) {
    const std::optional<uint64_t> missing = p.counting.MissingHigh();
    if (!missing) return std::nullopt;
    sum += static_cast<double>(*missing);
  }
  return sum;
}

Figure& Profile::At(Measure measure) {
  for (Figure& f : figures)
    if (f.measure == measure) return f;
  Figure& figure = figures.emplace_back();
  figure.measure = measure;
  // As the agent tells it.
  if (measure == Measure::kGcCpu) figure.source = Source::kForeign;
  return figure;
}

void SumUpCells(Figure& figure, const std::vector<LabelSet>& labels) {
  if (figure.by_thread()) {
    std::map<std::tuple<uint32_t, uint64_t, HeapKind>, Estimate> threads;
    for (const Cell& c : figure.cells)
      if (const uint64_t thread = labels[c.labels][LabelKey::kThread]; thread != 0)
        threads[{c.process, thread, c.kind}] += c.value;
    figure.threads.clear();
    for (const auto& [key, value] : threads)
      figure.threads.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), value});
  }
  if (figure.by_time()) {
    std::map<std::tuple<int64_t, int64_t, uint32_t, HeapKind>, Estimate> times;
    for (const TimedCell& t : figure.timed) {
      const Cell& cell = figure.cells[t.cell];
      times[{t.start_ns, t.end_ns, cell.process, cell.kind}] += t.value;
    }
    figure.times.clear();
    for (const auto& [key, value] : times) {
      const auto [start_ns, end_ns, process, kind] = key;
      figure.times.push_back({start_ns, end_ns, process, kind, value});
    }
  }
}

GcCpuRow& GcCpuRow::operator+=(const GcCpuRow& row) {
  start_ns = std::min(start_ns, row.start_ns);
  end_ns = std::max(end_ns, row.end_ns);
  const auto add = [](int64_t& sum, int64_t ns) {
    // Sums of hostile captures stay whole too.
    if (ns >= 0) sum = std::min(int64_t{1} << 60, (sum < 0 ? 0 : sum) + ns);
  };
  add(process_ns, row.process_ns);
  add(server_gc_ns, row.server_gc_ns);
  add(background_gc_ns, row.background_gc_ns);
  add(workstation_gc_ns, row.workstation_gc_ns);
  return *this;
}

Handling HandlingOf(const Profile& profile) {
  Handling out;
  if (profile.measure() != Measure::kExceptions) return out;
  out.told = profile.shown().handling_told;
  for (const Cell& c : profile.shown().cells) {
    if (profile.labels[c.labels][LabelKey::kInner] != 0) out.inner += c.value.count;
    if (profile.labels[c.labels][LabelKey::kNested] != 0) out.nested += c.value.count;
  }
  return out;
}

bool KnowsMessages(const Profile& profile) {
  return std::any_of(profile.labels.begin(), profile.labels.end(),
                     [](const LabelSet& set) { return set[LabelKey::kMessage] != 0; });
}

}  // namespace clrscope::profile
