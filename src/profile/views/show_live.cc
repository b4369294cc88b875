// SPDX-License-Identifier: Apache-2.0
#include "profile/views/show_live.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "profile/interval/interval_frame.h"

namespace clrscope::profile {

uint32_t AgeStartFor(uint32_t seconds) {
  const auto* start = std::lower_bound(kAgeStarts.begin(), kAgeStarts.end(), seconds);
  return start == kAgeStarts.end() ? kAgeStarts.back() : *start;
}

LiveBasis LiveBasisOf(const Profile& p) {
  bool sampled = false, ticks = false, foreign = false;
  for (const Process& process : p.processes) {
    if (!process.followed) continue;
    (process.live_source == Source::kTick      ? ticks
     : process.live_source == Source::kForeign ? foreign
                                               : sampled) = true;
  }
  return {sampled   ? Source::kSampled
          : ticks   ? Source::kTick
          : foreign ? Source::kForeign
                    : Source::kSampled,
          ticks && sampled};
}

namespace {

void FinishLive(Profile& p, Figure& figure) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, HeapKind, uint32_t>, Estimate> cells;
  for (const LiveCell& c : figure.lives)
    if (!c.young) cells[{c.process, c.node, c.type, c.kind, c.labels}] += c.value;
  figure.cells.clear();
  for (const auto& [key, value] : cells) {
    const auto [process, node, type, kind, labels] = key;
    figure.cells.push_back({node, type, process, kind, value, labels});
  }
  const LiveBasis basis = LiveBasisOf(p);
  figure.source = basis.source;
  figure.mixed = basis.mixed;
}

void FinishGcCpu(Figure& figure) {
  figure.cells.clear();
  figure.times.clear();
  for (const GcCpuRow& row : figure.gc_cpu) {
    Estimate e;
    e.samples = 1;
    e.biased = true;  // no error is known
    e.count = e.seen_count = 1;
    e.amount = e.seen_amount = static_cast<double>(std::max<int64_t>(row.gc_ns(), 0));
    if (figure.cells.empty() || figure.cells.back().process != row.process)
      figure.cells.push_back({0, 0, row.process, HeapKind::kUnknown, {}});
    figure.cells.back().value += e;
    figure.times.push_back({row.start_ns, row.end_ns, row.process, HeapKind::kUnknown, e});
  }
}

}  // namespace

void FinishAgentFigures(Profile& p) {
  for (Figure& f : p.figures) {
    if (f.measure == Measure::kLive) FinishLive(p, f);
    if (f.measure == Measure::kGcCpu) FinishGcCpu(f);
  }
}

void ShowLive(Profile& p, uint32_t older_than_s) {
  Figure& live = p.At(Measure::kLive);
  std::erase_if(live.lives, [older_than_s](const LiveCell& c) {
    return kAgeStarts[c.age_bucket] < older_than_s;
  });
  std::erase_if(live.live_ages, [older_than_s](const LiveAgeRow& r) {
    return kAgeStarts[r.age_bucket] < older_than_s;
  });
  FinishLive(p, live);
  p.shown_index = static_cast<size_t>(&live - p.figures.data());
}

}  // namespace clrscope::profile
