// SPDX-License-Identifier: Apache-2.0
#include "profile/storm_note.h"

#include <fmt/format.h>

#include <cmath>

namespace clrscope::profile {

std::string StormNote(const Figure& figure) {
  const Storms& s = figure.storms;
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
  std::string note = fmt::format("Between {:.0f} s and {:.0f} s there was a storm of exceptions: ",
                                 seconds(s.from_ns), seconds(s.to_ns));
  if (!s.by_counter && s.in_all() <= 0)
    return note + fmt::format(
                      "{}, and no window of time saw any. There may be any number more than are "
                      "shown",
                      s.contradicted ? "the runtime's exception-count cannot be right"
                                     : "no counter of the runtime told how many there were");
  if (!s.by_windows)
    note += fmt::format("{:.0f} by the runtime's exception-count", s.in_all());
  else if (s.by_counter)
    note += fmt::format(
        "{:.0f} by the runtime's exception-count and, where that does not tell, by "
        "windows of time",
        s.in_all());
  else
    note +=
        fmt::format("about {:.0f} by windows of time, as {}", s.in_all(),
                    s.contradicted ? fmt::format("the runtime's exception-count cannot be right "
                                                 "(it says {:.0f})",
                                                 s.told)
                                   : "no counter of the runtime told");
  note += fmt::format(
      ". Of these {:.0f} were recorded, in {} window{} of {:.1f} s together. Figures of that time "
      "are estimates, all others are exact",
      s.recorded, s.windows, s.windows == 1 ? "" : "s", seconds(s.windows_ns));
  if (s.windows < kFewWindows)
    note += fmt::format(". Fewer than {} windows do not tell how far an estimate may be off",
                        kFewWindows);
  if (s.less)
    note += fmt::format(
        ". The windows alone say {:.0f}: since .NET 9 `throw;` is counted but has no event",
        s.weighted);
  return note;
}

}  // namespace clrscope::profile
