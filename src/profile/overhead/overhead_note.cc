// SPDX-License-Identifier: Apache-2.0
#include "profile/overhead/overhead_note.h"

#include <fmt/format.h>

namespace clrscope::profile {

Overhead OverheadOf(const Profile& p) {
  Overhead sum;
  for (const Process& process : p.processes) sum += process.overhead;
  return sum;
}

std::string AllocationWindowsNote(const Figure& figure) {
  const Storms& s = figure.windows;
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
  std::string note = fmt::format(
      "Between {:.0f} s and {:.0f} s allocations were sampled in {} windows of time, {:.2g} s "
      "together; ",
      seconds(s.from_ns), seconds(s.to_ns), s.windows, seconds(s.windows_ns));
  note += s.by_counter ? "how much there was in all is by the runtime's alloc-rate"
                       : "no counter of the runtime told how much there was in all";
  if (s.windows < kFewWindows)
    note += fmt::format(
        ". Fewer than {} windows tell little about what came when and of which "
        "type",
        kFewWindows);
  return note;
}

}  // namespace clrscope::profile
