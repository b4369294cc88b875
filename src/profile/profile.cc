// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <algorithm>

namespace clrscope::profile {

bool Profile::by_callbacks() const {
  return counted() && !processes.empty() &&
         std::all_of(processes.begin(), processes.end(),
                     [](const Process& p) { return p.by_agent; });
}

bool Profile::exact() const {
  if (by_callbacks())
    return losses[Loss::kAgentFrames] == 0 && losses[Loss::kAgentSamples] == 0 &&
           std::all_of(processes.begin(), processes.end(),
                       [](const Process& p) { return p.complete; });
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

GcCpuRow& GcCpuRow::operator+=(const GcCpuRow& row) {
  start_ns = std::min(start_ns, row.start_ns);
  end_ns = std::max(end_ns, row.end_ns);
  const auto add = [](int64_t& sum, int64_t ns) {
    // Sums of hostile captures stay whole too.
    if (ns >= 0) sum = std::min(int64_t{1} << 60, (sum < 0 ? 0 : sum) + ns);
  };
  add(process_ns, row.process_ns);
  add(server_gc_ns, row.server_gc_ns);
  add(background_gc_ns, row.background_gc_ns);
  add(workstation_gc_ns, row.workstation_gc_ns);
  return *this;
}

}  // namespace clrscope::profile
