// SPDX-License-Identifier: Apache-2.0
// Events for the tests of exporters.
#pragma once

#include <algorithm>
#include <cstdint>

#include "profile/profile.h"

namespace clrscope::exporter::testing {

// `count` and `amount` as MeasureSpec says, on one thread within the first second.
inline void AddEvents(profile::Profile& p, profile::Measure measure, uint32_t node, uint32_t type,
                      double count, double amount, uint64_t thread = 7, uint32_t process = 0) {
  auto figure = std::find_if(p.figures.begin(), p.figures.end(),
                             [&](const profile::Figure& f) { return f.measure == measure; });
  if (figure == p.figures.end()) {
    figure = p.figures.emplace(p.figures.end());
    figure->measure = measure;
    for (const profile::SourceSpec& s : profile::kSourceSpecs)
      if (s.measure == measure) figure->source = s.id;
  }
  const auto labels = static_cast<uint32_t>(p.labels.size());
  p.labels.push_back(profile::LabelSet{}.With(profile::LabelKey::kThread, thread));
  profile::Estimate e;
  e.count = e.seen_count = count;
  e.amount = e.seen_amount = amount;
  e.samples = static_cast<uint64_t>(std::max(1.0, count));
  const auto cell = static_cast<uint32_t>(figure->cells.size());
  figure->cells.push_back({node, type, process, profile::HeapKind::kUnknown, e, labels});
  figure->timed.push_back({cell, 0, 1'000'000'000, e});
  SumUpCells(*figure, p.labels);
}

}  // namespace clrscope::exporter::testing
