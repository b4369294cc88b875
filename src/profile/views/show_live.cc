// SPDX-License-Identifier: Apache-2.0
#include "profile/views/show_live.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "profile/interval_frame.h"

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

void ShowLive(Profile& p, uint32_t older_than_s) {
  std::erase_if(p.lives, [older_than_s](const LiveCell& c) {
    return c.young || kAgeStarts[c.age_bucket] < older_than_s;
  });
  std::erase_if(p.live_ages, [older_than_s](const LiveAgeRow& r) {
    return kAgeStarts[r.age_bucket] < older_than_s;
  });
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, HeapKind>, Estimate> cells;
  for (const LiveCell& c : p.lives) cells[{c.process, c.node, c.type, c.kind}] += c.value;
  p.cells.clear();
  for (const auto& [key, value] : cells) {
    const auto [process, node, type, kind] = key;
    p.cells.push_back({node, type, process, kind, value});
  }
  p.threads.clear();
  p.times.clear();
  p.also.clear();
  p.shows = Shows::kLive;
  const LiveBasis basis = LiveBasisOf(p);
  p.source = basis.source;
  p.mixed = basis.mixed;
  for (Process& process : p.processes)
    process.ticks = p.mixed && process.live_source == Source::kTick;
  p.objects_known = true;
}

}  // namespace clrscope::profile
