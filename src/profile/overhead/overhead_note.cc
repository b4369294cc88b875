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
  constexpr double kBytesPerGiB = 1 << 30;
  const Storms& s = figure.windows;
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
  if (!s.by_counter && s.in_all() <= 0)
    return fmt::format(
        "Between {:.0f} s and {:.0f} s nothing is known of allocations: {}, and no window of time "
        "saw any. There may be any amount more than is shown",
        seconds(s.from_ns), seconds(s.to_ns),
        s.contradicted ? "the runtime's alloc-rate cannot be right"
                       : "no counter of the runtime told how much there was");
  std::string note = fmt::format(
      "Between {:.0f} s and {:.0f} s allocations were sampled in {} window{} of time, {:.2g} s "
      "together; how much there was in all is ",
      seconds(s.from_ns), seconds(s.to_ns), s.windows, s.windows == 1 ? "" : "s",
      seconds(s.windows_ns));
  if (s.contradicted)
    note += fmt::format(
        "by these windows: the runtime's alloc-rate says {:.3g} GiB, which cannot be right. Before "
        ".NET 11 "
        "it stands still, and jumps, where server GC changes its number of heaps",
        s.told / kBytesPerGiB);
  else if (!s.by_windows)
    note += "by the runtime's alloc-rate";
  else
    note += s.by_counter ? "by the runtime's alloc-rate and, where that does not tell, by windows"
                         : "by these windows, as no counter of the runtime told";
  if (s.windows < kFewWindows)
    note += fmt::format(
        ". Fewer than {} windows tell little about what came when and of which "
        "type",
        kFewWindows);
  return note;
}

}  // namespace clrscope::profile
