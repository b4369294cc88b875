// SPDX-License-Identifier: Apache-2.0
// Without a library, as the agent writes them too.
#include <cstdio>

#include "profile/overhead/overhead_note.h"

namespace clrscope::profile {
namespace {

template <class... Values>
std::string Text(const char* format, Values... values) {
  char room[256];
  std::snprintf(room, sizeof room, format, values...);
  return room;
}

}  // namespace

std::string OverheadNote(const Overhead& o) {
  if (!o.known()) return {};
  constexpr double kPercent = 100, kShown = 0.05;
  std::string parts;
  for (size_t i = 0; i < kOverheadParts; ++i) {
    const auto part = static_cast<OverheadPart>(i);
    const double percent = kPercent * o.share(part);
    if (percent >= kShown)
      parts += Text("%s%s %.1f", parts.empty() ? "" : ", ", OverheadName(part).data(), percent);
  }
  std::string note = Text("Overhead: about %.1f %% of the program's CPU", kPercent * o.share());
  if (o.limit > 0) note += Text(" of %.3g %% that it may be", kPercent * o.limit);
  return parts.empty() ? note : note + " (" + parts + ")";
}

std::vector<std::string> WindowNotes(const Overhead& o) {
  std::vector<std::string> notes;
  for (size_t i = 0; i < kOverheadParts; ++i) {
    const Overhead::Windows& w = o.windows[i];
    if (w.windows == 0) continue;
    notes.push_back(Text("%s in %llu windows of time, %.3g s of %.3g s, which stand for all of it",
                         OverheadName(static_cast<OverheadPart>(i)).data(),
                         static_cast<unsigned long long>(w.windows),
                         static_cast<double>(w.ns) / 1e9, static_cast<double>(w.of_ns) / 1e9));
  }
  return notes;
}

}  // namespace clrscope::profile
