// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/exceptions/storm_fold.h"

#include <algorithm>

namespace clrscope::analysis {

void StormFold::OnWhole(int64_t time_ns) {
  constexpr int64_t kTenthNs = 100'000'000;
  const int64_t tenth = time_ns / kTenthNs;
  if (tenth > tenth_) {
    const int64_t steps = std::min(tenth - tenth_, static_cast<int64_t>(tenths_.size()));
    for (int64_t i = 0; i < steps; ++i) {
      uint32_t& old = tenths_[static_cast<size_t>(tenth - i) % tenths_.size()];
      in_second_ -= old;
      old = 0;
    }
    tenth_ = tenth;
  }
  ++tenths_[static_cast<size_t>(tenth_) % tenths_.size()];
  if (++in_second_ > kMostPerSecond) stormy_ = true;
  NoteWhole(time_ns, 1);
}

double StormFold::whole_rate() const {
  return 10.0 * *std::max_element(tenths_.begin(), tenths_.end());
}

void StormFold::OnWindowed(uint32_t node, uint32_t type, uint64_t thread, bool again,
                           const ActivityPath& activity, int64_t time_ns) {
  const uint64_t rethrown = again ? 1 : 0;
  WindowFold::OnWindowed({profile::SeriesKey::Make(node, type, profile::HeapKind::kUnknown,
                                                   profile::Source::kException, 0),
                          0,
                          thread,
                          {1, rethrown, 1 - rethrown},
                          1},
                         activity, time_ns);
}

}  // namespace clrscope::analysis
