// SPDX-License-Identifier: Apache-2.0
#include "profile/window_note.h"

#include <fmt/format.h>

namespace clrscope::profile {

std::string WindowNote(const RequestWindows& w) {
  std::string note = fmt::format(
      "There were many requests: they were followed in {:.0f} windows of time, {:.1f} s of {:.1f} "
      "s. "
      "What each route cost is estimated from them and scaled to the runtime's count of requests",
      w.count, w.ns / 1e9, w.of_ns / 1e9);
  if (w.count < 2) note += ". One window does not tell how far an estimate may be off";
  return note;
}

}  // namespace clrscope::profile
