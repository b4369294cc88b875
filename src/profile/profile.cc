// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <algorithm>

namespace clrscope::profile {

bool Profile::exact() const {
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

}  // namespace clrscope::profile
