// SPDX-License-Identifier: Apache-2.0
#include "profile/views/durations.h"

#include "profile/estimate/duration_scale.h"

namespace clrscope::profile {

double Durations::At(double quantile) const {
  double below = 0;
  for (const auto& [step, n] : steps) {
    below += n;
    // A hair less than the quantile is the quantile: sums of doubles.
    if (below * (1 - beyond) >= quantile * count - 1e-9 * count)
      return DurationScale::MiddleNs(step);
  }
  return 0;
}

double LongestNs(const Durations& durations, int64_t known_ns) {
  if (durations.steps.empty()) return 0;
  const uint16_t step = durations.steps.rbegin()->first;
  return DurationScale::StepOf(known_ns) == step ? static_cast<double>(known_ns)
                                                 : DurationScale::MiddleNs(step);
}

std::map<std::pair<uint32_t, uint64_t>, Durations> DurationsByRoute(const Profile& p) {
  std::map<std::pair<uint32_t, uint64_t>, Durations> out;
  const Figure* figure = p.Find(Measure::kRequests);
  if (figure == nullptr) return out;
  for (const Cell& c : figure->cells) {
    const LabelSet& set = p.labels[c.labels];
    Durations& d = out[{c.process, set[LabelKey::kRequest]}];
    d.steps[static_cast<uint16_t>(set[LabelKey::kDuration])] += c.value.count;
    d.count += c.value.count;
    d.sum_ns += c.value.amount;
  }
  return out;
}

}  // namespace clrscope::profile
