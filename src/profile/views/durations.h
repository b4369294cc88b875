// SPDX-License-Identifier: Apache-2.0
// How long requests took: their distribution, from a figure's cells by step of DurationScale.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "profile/profile.h"

namespace clrscope::profile {

struct Durations {
  std::map<uint16_t, double> steps;  // how many took so long
  double count = 0, sum_ns = 0;
  double exact_ns = 0;  // the mean, where it is known apart from them
  double beyond = 0;    // the part of them that took longer than all of these, and was not seen

  Durations& operator+=(const Durations& other) {
    for (const auto& [step, n] : other.steps) steps[step] += n;
    count += other.count;
    sum_ns += other.sum_ns;
    return *this;
  }
  double mean_ns() const { return exact_ns > 0 ? exact_ns : count > 0 ? sum_ns / count : 0; }
  // The duration that this part of them did not exceed, ns; within a step's half, 3.3 %. 0 of
  // none, and where it is beyond what was seen.
  double At(double quantile) const;
};

// The longest of them, ns. `known_ns`: the longest one of the whole recording, which may be
// another.
double LongestNs(const Durations& durations, int64_t known_ns);

// By process and route, of what the profile holds.
std::map<std::pair<uint32_t, uint64_t>, Durations> DurationsByRoute(const Profile& profile);

}  // namespace clrscope::profile
