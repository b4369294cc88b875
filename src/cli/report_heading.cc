// SPDX-License-Identifier: Apache-2.0
// What stands above and below the tables of a report.
#include <fmt/format.h>

#include <algorithm>

#include "cli/counting.h"
#include "cli/humanize.h"
#include "cli/losses.h"
#include "cli/report_cells.h"
#include "cli/report_text.h"
#include "cli/shorten.h"
#include "cli/wrap.h"

namespace clrscope::cli {
namespace {

using profile::Estimate;
using profile::Profile;

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

std::string HeadingText(const Input& input, const TextOptions& o, bool with_sums) {
  const Profile& p = input.profile;
  const Estimate total = p.Total();
  std::string out;
  for (size_t i = 0; i < p.processes.size(); ++i) {
    if (i == 5) {
      out += fmt::format("… and {} more processes: --by process\n", p.processes.size() - i);
      break;
    }
    const profile::Process& process = p.processes[i];
    const std::string_view name = p.str(process.name);
    out += o.style.Bold(Printable(name.empty() ? "process" : name));
    if (process.pid != 0) out += fmt::format(" ({})", process.pid);
    const std::string_view runtime = p.str(process.runtime);
    if (!runtime.empty()) out += fmt::format(" · {}", Printable(runtime));
    if (p.processes.size() == 1)
      out += fmt::format(" · {} recorded", HumanDuration(Seconds(p.duration_ns)));
    out += "\n";
  }
  double span = Seconds(p.duration_ns);
  if (input.ranged) {
    const double from = std::max(0.0, Seconds(input.range.from_ns));
    const double to = std::min(Seconds(input.range.to_ns), span);
    out +=
        fmt::format("From {} to {} of {}\n", ClockText(from), ClockText(to), HumanDuration(span));
    span = std::max(0.0, to - from);
  } else if (p.processes.size() > 1) {
    out += fmt::format("{} recorded\n", HumanDuration(span));
  }
  if (!with_sums) return out;
  const std::string bytes = HumanBytes(total.bytes);
  const bool at_least = p.counted() && (!p.exact() || p.any_partial());
  std::string sums = bytes;
  if (p.has_interval(total))
    sums += fmt::format(" {}", HumanBytesInterval(total.bytes, BytesInterval(total)));
  if (p.objects_known) {
    sums += fmt::format(" in {} objects", ObjectsText(p, total));
    if (p.has_interval(total))
      sums += fmt::format(" {}", HumanCountInterval(total.objects, ObjectsInterval(total)));
  }
  if (p.shows == profile::Shows::kLive) {
    int64_t at = 0;
    for (const profile::Process& process : p.processes) at = std::max(at, process.live_at_ns);
    sums += fmt::format(" live at {}", ClockText(Seconds(at)));
  } else if (span > 0)
    sums += fmt::format(", {}/s", HumanBytes(total.bytes / span));
  if (p.source == profile::Source::kForeign)
    sums += "; as pprof tells it: how far off it may be is not known";
  else
    sums += fmt::format("; {} {} {} {}",
                        at_least      ? "at least, by"
                        : p.counted() ? "exactly, by"
                                      : "by",
                        Thousands(total.samples),
                        p.mixed ? "AllocationSampled and AllocationTick" : p.event(),
                        p.by_callbacks()                   ? "callbacks"
                        : p.counted()                      ? "events"
                        : p.shows == profile::Shows::kLive ? "samples that are followed"
                                                           : "samples");
  out += o.style.Bold(bytes) + Wrap(sums, 0, 0, o.width).substr(bytes.size());
  if (p.shows == profile::Shows::kLive) {
    std::string live =
        p.source == profile::Source::kForeign
            ? "Live: in use, as the program that wrote the profile counts it."
            : "Live: not found dead by the last GC of its generation; objects that no GC looked at "
              "yet are left out.";
    if (input.older_than_s != 0)
      live += fmt::format(" Only what is {} old or older.", HumanAge(input.older_than_s));
    out += Wrap(live, 0, 0, o.width);
  }
  if (p.mixed)
    out += Wrap(
        "Runtimes before .NET 10 are sampled by AllocationTick, the others by AllocationSampled. "
        "Figures that rest on ticks are biased and have no interval.",
        0, 0, o.width);
  if (p.biased())
    out += Wrap(
        "AllocationTick fires once per 100 KB of a heap: figures are biased, without an interval.",
        0, 0, o.width);
  for (const std::string& sentence : CountingSentences(p)) out += Wrap(sentence, 0, 0, o.width);
  for (const profile::Source also : p.also)
    out += fmt::format("Also recorded: {} (--event {})\n", EventName(also),
                       also == profile::Source::kSampled ? "sampled"
                       : also == profile::Source::kTick  ? "tick"
                                                         : "counted");
  return out;
}

std::string FooterText(const Input& input, bool marked_few) {
  std::string out;
  if (marked_few)
    out += fmt::format("~ rests on fewer than {} samples: a rough figure\n", kFewSamples);
  out += LossesText(input.profile.losses, OutputWidth());
  return out;
}

}  // namespace clrscope::cli
