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

std::string LiveWindowNote(const RequestWindows& w) {
  return fmt::format(
      "There were many requests: they were followed in {:.0f} windows of time, {:.1f} s of {:.1f} "
      "s. What lives of a route is at least this much, as {} has what it allocated outside of the "
      "windows; record with --requests=all to have all of it",
      w.count, w.ns / 1e9, w.of_ns / 1e9, kNoRequest);
}

}  // namespace clrscope::profile
