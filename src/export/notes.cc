// SPDX-License-Identifier: Apache-2.0
// Words about a profile's origin, error and losses.
#include "export/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/program_version.h"
#include "export/stack_walk.h"
#include "profile/notes.h"
#include "profile/overhead/overhead_note.h"
#include "profile/sampler_notes.h"
#include "profile/storm_note.h"
#include "profile/window_note.h"

namespace clrscope::exporter {
namespace {

using profile::Profile;

// "total bytes: 1000000 ±50000 (5.0 %; 95 % interval 950000 to 1051000)": ± is the larger half.
std::string TotalNote(std::string_view what, double total, const profile::Interval* interval) {
  if (interval == nullptr) return fmt::format("total {}: {:.0f}", what, total);
  const double error = std::max(total - interval->low, interval->high - total);
  return fmt::format("total {}: {:.0f} ±{:.0f} ({:.1f} %; 95 % interval {:.0f} to {:.0f})", what,
                     total, error, total > 0 ? 100 * error / total : 0.0, interval->low,
                     interval->high);
}

// What counted figures lack and what was added to them.
void AddCounting(const Profile& p, std::vector<std::string>& notes) {
  uint64_t added = 0;
  for (const profile::Process& process : p.processes) added += process.counting.added;
  if (added != 0)
    notes.push_back(fmt::format(
        "added: {} objects, each a type's first on a further thread, which the runtime does not "
        "count; they are under [no stack]",
        added));
  if (const std::optional<double> missing = p.MissingHigh())
    notes.push_back(fmt::format(
        "missing: at most {:.0f} bytes of what the GC handed out by its own count (AllocationTick)",
        *missing));
}

void AddTotals(const profile::Figure& f, const profile::RequestWindows& windows,
               std::vector<std::string>& notes) {
  const profile::Estimate total = f.Total();
  if (f.events()) {
    // "total wait_ns" alone would not say of what.
    for (const auto& [q, value] :
         {std::pair(f.spec().count, total.count), std::pair(f.spec().amount, total.amount)})
      notes.push_back(TotalNote(
          fmt::format("{} ({})", q.pprof, q.unit == profile::Unit::kNanoseconds ? "ns" : "count"),
          value, nullptr));
    if (f.storms.any()) notes.push_back(profile::StormNote(f));
    if (f.by_windows) notes.push_back(profile::WindowNote(windows));
    return;
  }
  const bool interval = f.has_interval() && !total.biased;
  const profile::Interval bytes = interval ? AmountInterval(total) : profile::Interval{};
  const profile::Interval objects = interval ? CountInterval(total) : profile::Interval{};
  notes.push_back(TotalNote("bytes", total.amount, interval ? &bytes : nullptr));
  if (f.counts_known) {
    notes.push_back(TotalNote("objects", total.count, interval ? &objects : nullptr));
  } else {
    notes.emplace_back("objects are unknown: this runtime's event does not tell object sizes");
  }
  notes.push_back(profile::SamplesNote(total.samples));
  if (f.windows.any()) notes.push_back(profile::AllocationWindowsNote(f));
  if (f.by_windows) notes.push_back(profile::WindowNote(windows));
}

}  // namespace

std::vector<std::string> Notes(const Profile& profile, bool only_shown) {
  std::vector<std::string> notes{std::string(ProgramVersion())};
  if (profile.shown().measure == profile::Measure::kLive)
    notes.emplace_back(
        "live objects: not found dead by the last GC of their generation; those that no GC looked "
        "at yet are left out");
  for (uint32_t i = 0; i < profile.processes.size(); ++i) {
    const profile::Process& p = profile.processes[i];
    notes.push_back(profile::ProcessNote(ProcessName(profile, i)));
    if (p.command_line.value != 0) {
      notes.push_back(fmt::format("command line: {}", profile.str(p.command_line)));
    }
    std::string runtime;
    for (const StringId part : {p.runtime, p.os, p.arch}) {
      if (part.value == 0) continue;
      if (!runtime.empty()) runtime += ' ';
      runtime += profile.str(part);
    }
    if (!runtime.empty()) notes.push_back(profile::RuntimeNote(runtime));
  }
  for (const profile::Figure* f : FiguresOf(profile, only_shown)) {
    // Whether counted figures are whole is known of those that are shown.
    const bool shown = f == &profile.shown();
    notes.push_back(
        profile::EventNote(f->source, shown && profile.by_callbacks(), shown && profile.exact()));
    if (std::string note = profile::SamplerNote(profile, *f); !note.empty())
      notes.push_back(std::move(note));
    if (!f->idle_hidden.none())
      notes.push_back(
          fmt::format("left out: {:.0f} ns of idle threads (--all-states)", f->idle_hidden.amount));
    AddTotals(*f, profile.requests.windows, notes);
    if (shown && profile.counted()) AddCounting(profile, notes);
    if (f->biased() || f->mixed) notes.emplace_back(profile::BiasNote());
  }
  if (!profile.complete) {
    notes.emplace_back("incomplete: the recording was not closed as it should be");
  }
  profile.losses.ForEach(
      [&](Loss loss, uint64_t count) { notes.push_back(profile::LossNote(loss, count)); });
  return notes;
}

}  // namespace clrscope::exporter
