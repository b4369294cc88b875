// SPDX-License-Identifier: Apache-2.0
// Words about a profile's origin, error and losses.
#include "export/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "export/stack_walk.h"

namespace clrscope::exporter {
namespace {

using profile::Profile;
using profile::Source;

std::string EventNote(const Profile& p) {
  switch (p.source) {
    case Source::kForeign:
      return "values: as a pprof file told them; nothing is known of their error";
    case Source::kTick:
      return "event: AllocationTick, one for about every 100 KB of a heap kind";
    case Source::kSampled:
      return "event: AllocationSampled, each byte is hit with probability 1/102400; values are "
             "estimates of all allocations";
    case Source::kCounted:
      if (p.by_callbacks())
        return fmt::format("event: ObjectAllocated, a call for every object{}",
                           p.exact() ? ": exact" : "; not all arrived: at least so much");
      if (p.exact())
        return "event: GCSampledObjectAllocation, one for every object that the runtime counts: "
               "exact";
      return "event: GCSampledObjectAllocation, counts since the type's event before: at least so "
             "much";
  }
  return "event: unknown";
}

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

void AddTotals(const Profile& p, std::vector<std::string>& notes) {
  const profile::Estimate total = p.Total();
  const profile::Interval bytes =
      p.has_interval(total) ? BytesInterval(total) : profile::Interval{};
  const profile::Interval objects =
      p.has_interval(total) ? ObjectsInterval(total) : profile::Interval{};
  notes.push_back(TotalNote("bytes", total.bytes, p.has_interval(total) ? &bytes : nullptr));
  if (p.objects_known) {
    notes.push_back(
        TotalNote("objects", total.objects, p.has_interval(total) ? &objects : nullptr));
  } else {
    notes.emplace_back("objects are unknown: this runtime's event does not tell object sizes");
  }
  notes.push_back(fmt::format("samples: {}", total.samples));
}

}  // namespace

std::string ProgramVersion() { return "clrscope " CLRSCOPE_VERSION; }

std::vector<std::string> Notes(const Profile& profile) {
  std::vector<std::string> notes{ProgramVersion()};
  if (profile.shows == profile::Shows::kLive)
    notes.emplace_back(
        "live objects: not found dead by the last GC of their generation; those that no GC looked "
        "at yet are left out");
  for (uint32_t i = 0; i < profile.processes.size(); ++i) {
    const profile::Process& p = profile.processes[i];
    notes.push_back("process: " + ProcessName(profile, i));
    if (p.command_line.value != 0) {
      notes.push_back(fmt::format("command line: {}", profile.str(p.command_line)));
    }
    std::string runtime;
    for (const StringId part : {p.runtime, p.os, p.arch}) {
      if (part.value == 0) continue;
      if (!runtime.empty()) runtime += ' ';
      runtime += profile.str(part);
    }
    if (!runtime.empty()) notes.push_back("runtime: " + runtime);
  }
  notes.push_back(EventNote(profile));
  AddTotals(profile, notes);
  if (profile.counted()) AddCounting(profile, notes);
  if (profile.biased() || profile.mixed) {
    notes.emplace_back(
        "biased: AllocationTick fires at a fixed stride, so these figures are a biased sample "
        "without an interval");
  }
  if (!profile.complete) {
    notes.emplace_back("incomplete: the recording was not closed as it should be");
  }
  profile.losses.ForEach([&](Loss loss, uint64_t count) {
    const LossInfo& info = Describe(loss);
    notes.push_back(fmt::format("loss: {} {}: {}", count, info.name, info.sentence));
  });
  return notes;
}

}  // namespace clrscope::exporter
