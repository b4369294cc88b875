// SPDX-License-Identifier: Apache-2.0
#include "profile/overhead_note.h"

#include <fmt/format.h>

namespace clrscope::profile {

Overhead OverheadOf(const Profile& p) {
  Overhead sum;
  for (const Process& process : p.processes) sum += process.overhead;
  return sum;
}

std::string OverheadNote(const Overhead& o) {
  if (!o.known()) return {};
  constexpr double kPercent = 100, kShown = 0.05;
  std::string parts;
  for (size_t i = 0; i < kOverheadParts; ++i) {
    const auto part = static_cast<OverheadPart>(i);
    const double percent = kPercent * o.share(part);
    if (percent >= kShown)
      parts += fmt::format("{}{} {:.1f}", parts.empty() ? "" : ", ", OverheadName(part), percent);
  }
  std::string note =
      fmt::format("Overhead: about {:.1f} % of the program's CPU", kPercent * o.share());
  if (o.limit > 0) note += fmt::format(" of {:.3g} % that it may be", kPercent * o.limit);
  return parts.empty() ? note : fmt::format("{} ({})", note, parts);
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
