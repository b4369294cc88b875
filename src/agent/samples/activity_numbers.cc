// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/activity_numbers.h"

#include <cstring>
#include <utility>

namespace clrscope::agent {

uint32_t ActivityNumbers::Of(const Guid& activity, int64_t alloc_ns) {
  uint64_t halves[2];
  static_assert(sizeof(halves) == sizeof(activity));
  std::memcpy(halves, &activity, sizeof(halves));
  if ((halves[0] | halves[1]) == 0) return 0;
  const Key key{halves[0], halves[1], alloc_ns / kSpanNs};
  const auto [it, added] = numbers_.try_emplace(key, last_ + 1);
  if (added) known_.emplace(++last_, Known{key, alloc_ns});
  return it->second;
}

void ActivityNumbers::FillFrame(const profile::LiveSample& live, profile::IntervalFrame& frame) {
  frame.requests = true;
  const auto use = [this](uint32_t number) {
    if (number == 0) return;
    if (const auto it = known_.find(number); it != known_.end()) it->second.used = true;
  };
  live.ForEachActivity(use);
  const auto tell = [&](uint32_t number, Known& k) {
    if (std::exchange(k.told, true)) return;
    profile::IntervalActivity& a = frame.activities.emplace_back();
    a.number = number;
    a.first_ns = k.first_ns;
    std::memcpy(a.id.data(), &std::get<0>(k.key), 8);
    std::memcpy(a.id.data() + 8, &std::get<1>(k.key), 8);
  };
  // What died in the interval is in its rows alone.
  for (const profile::IntervalTurnover& t : frame.turnover)
    if (const auto it = known_.find(t.request); it != known_.end()) tell(t.request, it->second);
  for (auto it = known_.begin(); it != known_.end();) {
    auto& [number, k] = *it;
    if (std::exchange(k.used, false)) {
      tell(number, k);
      ++it;
      continue;
    }
    if (k.told) frame.ended_activities.push_back(number);
    numbers_.erase(k.key);
    it = known_.erase(it);
  }
}

void ActivityNumbers::Resend() {
  for (auto& [number, k] : known_) k.told = false;
}

}  // namespace clrscope::agent
