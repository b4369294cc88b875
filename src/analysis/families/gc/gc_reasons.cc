// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/gc/gc_reasons.h"

#include <algorithm>

namespace clrscope::analysis {

std::optional<clr::CondemnedReasons> CondemnedOf(const profile::GcRecord& gc) {
  std::optional<clr::CondemnedReasons> all;
  const auto take = [&all](uint32_t reasons0, uint32_t reasons1) {
    if (!all) all.emplace();
    const clr::CondemnedReasons one = clr::DecodeCondemned(reasons0, reasons1);
    all->initial = std::max(all->initial, one.initial);
    all->final = std::max(all->final, one.final);
    all->by_budget = std::max(all->by_budget, one.by_budget);
    all->by_time = std::max(all->by_time, one.by_time);
    for (const std::string_view condition : one.conditions)
      if (std::find(all->conditions.begin(), all->conditions.end(), condition) ==
          all->conditions.end())
        all->conditions.push_back(condition);
  };
  if (gc.condemn_reasons0 >= 0)
    take(static_cast<uint32_t>(gc.condemn_reasons0), static_cast<uint32_t>(gc.condemn_reasons1));
  for (const profile::GcHeap& heap : gc.heaps) take(heap.condemn_reasons0, heap.condemn_reasons1);
  return all;
}

}  // namespace clrscope::analysis
