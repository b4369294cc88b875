// SPDX-License-Identifier: Apache-2.0
#include "profile/tables/series.h"

#include <bit>
#include <cstddef>

namespace clrscope::profile {

uint16_t SizeClass(uint64_t size) {
  if (size <= 128) return static_cast<uint16_t>((size + 7) / 8);
  const auto log2 = static_cast<unsigned>(std::bit_width(size) - 1);  // 7 and up
  const auto sixteenth = static_cast<unsigned>((size >> (log2 - 4)) & 15);
  return static_cast<uint16_t>(17 + (log2 - 7) * 16 + sixteenth);
}

Estimate EstimateOf(const SeriesKey& key, const Sums& sums) {
  if (sums.samples == 0) return {};
  const double mean_size = static_cast<double>(sums.amount) / static_cast<double>(sums.samples);
  switch (key.source()) {
    case Source::kForeign:
      return {};
    case Source::kSampled:
      return EstimateSampled(sums.samples, mean_size);
    case Source::kTick:
      return EstimateTick(sums.samples, static_cast<double>(sums.stands_for), mean_size);
    case Source::kCpuClock:
    case Source::kWallClock:
    case Source::kThreadCpu:
    case Source::kThreadWall:
    case Source::kUniversalCpu:
    case Source::kUniversalSwitch: {
      // What no sample stands for is told by the system, and certain.
      Estimate e;
      e.samples = sums.stands_for;
      e.count = e.seen_count = static_cast<double>(sums.stands_for);
      e.amount = static_cast<double>(sums.amount);
      if (sums.stands_for == 0) e.seen_amount = e.amount;
      return e;
    }
    case Source::kException:
    case Source::kContention:
    case Source::kWait:
    case Source::kRequest:
    case Source::kCounted: {
      Estimate e;
      e.samples = sums.samples;
      e.amount = e.seen_amount = static_cast<double>(sums.amount);
      e.count = e.seen_count = static_cast<double>(sums.stands_for);
      if (key.size_class() == kGuessedSize) e.seen_amount = 0;
      return e;
    }
  }
  return {};
}

uint32_t SeriesTable::Find(const SeriesKey& key, uint64_t nominal_size, uint32_t other_node,
                           bool* capped) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = Hash(key) & mask;
  for (; slots_[i].id_plus_one != 0; i = (i + 1) & mask)
    if (slots_[i].key == key) return slots_[i].id_plus_one - 1;
  if (keys_.size() >= max_ && key.node != other_node) {
    *capped = true;
    SeriesKey other = key;
    other.node = other_node;
    return Find(other, nominal_size, other_node, capped);
  }
  const auto id = static_cast<uint32_t>(keys_.size());
  keys_.push_back(key);
  nominal_sizes_.push_back(nominal_size);
  slots_[i] = {key, id + 1};
  if (keys_.size() * 3 > slots_.size() * 2) Grow();
  return id;
}

void SeriesTable::Grow() {
  LargeVector<Slot> bigger(slots_.size() * 2);
  const std::size_t mask = bigger.size() - 1;
  for (const Slot& s : slots_) {
    if (s.id_plus_one == 0) continue;
    std::size_t i = Hash(s.key) & mask;
    while (bigger[i].id_plus_one != 0) i = (i + 1) & mask;
    bigger[i] = s;
  }
  slots_.swap(bigger);
}

}  // namespace clrscope::profile
