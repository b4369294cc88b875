// SPDX-License-Identifier: Apache-2.0
// What stands above and below the tables of a report.
#include <fmt/format.h>

#include <algorithm>

#include "profile/estimate/bounds.h"
#include "profile/overhead/overhead_note.h"
#include "profile/sampler_notes.h"
#include "profile/storm_note.h"
#include "profile/window_note.h"
#include "report/rows/counting.h"
#include "report/rows/losses.h"
#include "report/text/cells.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"
#include "report/text/table.h"
#include "report/text/wrap.h"

namespace clrscope::report {
namespace {

using profile::Estimate;
using profile::Profile;

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

// Exceptions with an inner one, and those that were thrown while another one was handled.
std::string HandlingText(const Profile& p, const Estimate& total, const TextOptions& o) {
  const profile::Handling handling = profile::HandlingOf(p);
  if (!handling.told || (handling.inner == 0 && handling.nested == 0)) return "";
  return Wrap(fmt::format("Of {}: {} with an inner exception, {} thrown while another was handled",
                          CountText(p, total), CountText(p, {.count = handling.inner}),
                          CountText(p, {.count = handling.nested})),
              0, 0, o.width);
}

// What a report of wall time leaves out unless it is asked for.
std::string IdleText(const Profile& p, const TextOptions& o) {
  const Estimate& idle = p.shown().idle_hidden;
  if (idle.none()) return "";
  return Wrap(
      fmt::format("Hidden: {} of idle threads (--state idle, --all-states)", AmountText(p, idle)),
      0, 0, o.width);
}

// What samples of the runtime are, and what they are not.
std::string SamplerText(const Profile& p, const TextOptions& o) {
  const std::string note = profile::SamplerNote(p, p.shown());
  return note.empty() ? "" : Wrap(note, 0, 0, o.width);
}

// How the figures of a clock come about.
std::string ClockSourceText(const Profile& p, const Estimate& total) {
  const std::string samples = Thousands(total.samples);
  if (p.shown().source == profile::Source::kCpuClock) {
    // Of several processes each may have its own.
    const profile::CpuSampler first =
        p.processes.empty() ? profile::CpuSampler::kNone : p.processes.front().sampler;
    const bool same = std::all_of(p.processes.begin(), p.processes.end(),
                                  [&](const profile::Process& q) { return q.sampler == first; });
    const std::string_view sampler = same ? SamplerName(first) : std::string_view();
    const bool stops = same && first == profile::CpuSampler::kPtrace;
    return fmt::format("; as the system says, split over {} samples of {}{}{}", samples,
                       sampler.empty() || stops ? "" : fmt::format("the {}'s ", sampler), p.event(),
                       stops ? " by ptrace" : "");
  }
  return fmt::format("; by {} samples, {}", samples, p.event());
}

std::string EventsHeading(const Profile& p, const Estimate& total, double span,
                          const TextOptions& o) {
  const profile::MeasureSpec& spec = p.shown().spec();
  std::string first, rest;
  if (p.shown().measure == profile::Measure::kExceptions) {
    first = fmt::format("{} exceptions", CountText(p, total));
    if (const std::string error = CountError(p, total, profile::HeapKind::kUnknown); !error.empty())
      first += " " + error;
    rest = " thrown";
    if (total.amount > 0) rest += fmt::format(", and {} times thrown again", AmountText(p, total));
  } else if (p.shown().clocked()) {
    first = AmountText(p, total);
    rest = fmt::format(" of {}", spec.title);
  } else {
    first = AmountText(p, total);
    rest = fmt::format(" in {} {}", CountText(p, total), spec.title);
  }
  if (span > 0) {
    const profile::Quantity& rate = spec.amount_first ? spec.amount : spec.count;
    rest += fmt::format(
        ", {}/s",
        QuantityText(rate.unit, (spec.amount_first ? total.amount : total.count) / span, false));
  }
  rest += p.shown().clocked()
              ? ClockSourceText(p, total)
              : fmt::format("; by {} {} events", Thousands(total.samples), p.event());
  std::string out = o.style.Bold(first) + Wrap(first + rest, 0, 0, o.width).substr(first.size());
  out += HandlingText(p, total, o);
  out += IdleText(p, o);
  out += SamplerText(p, o);
  if (p.shown().storms.any()) out += Wrap(profile::StormNote(p.shown()), 0, 0, o.width);
  if (p.shown().by_windows) out += Wrap(profile::WindowNote(p.requests.windows), 0, 0, o.width);
  double unfinished = 0;
  for (const profile::Cell& c : p.shown().cells)
    if (p.labels[c.labels][profile::LabelKey::kUnfinished] != 0) unfinished += c.value.count;
  if (unfinished > 0)
    out +=
        Wrap(fmt::format("{} of them had not ended when the recording did: they count until then",
                         CountText(p, {.count = unfinished})),
             0, 0, o.width);
  return out;
}

// What else the recording holds.
std::string OtherMeasures(const Profile& p, const TextOptions& o) {
  std::string names;
  for (const profile::Figure& f : p.figures)
    if (&f != &p.shown() && !f.cells.empty() &&
        (f.measure != profile::Measure::kGcCpu || f.Total().amount > 0))
      names += fmt::format("{}{}", names.empty() ? "" : ", ",
                           f.measure == profile::Measure::kRequests
                               ? "--by request"
                               : fmt::format("--measure {}", f.spec().name));
  return names.empty() ? "" : Wrap("Also recorded: " + names, 0, 0, o.width);
}

std::string ProcessesText(const Profile& p, const TextOptions& o) {
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
  return out;
}

// "1.2 GiB ±2 % in 3.1 M objects, 40 MiB/s; by 8,142 AllocationSampled samples"
std::string SumsText(const Profile& p, const Estimate& total, double span) {
  const bool at_least = p.counted() && (!p.exact() || p.any_partial());
  std::string sums = HumanBytes(total.amount);
  if (p.has_interval(total))
    sums += fmt::format(" {}", HumanBytesInterval(total.amount, AmountInterval(total)));
  if (p.shown().counts_known) {
    sums += fmt::format(" in {} objects", CountText(p, total));
    if (p.has_interval(total))
      sums += fmt::format(" {}", HumanCountInterval(total.count, CountInterval(total)));
  }
  if (p.shown().measure == profile::Measure::kLive) {
    int64_t at = 0;
    for (const profile::Process& process : p.processes) at = std::max(at, process.live_at_ns);
    sums += fmt::format(" live at {}", ClockText(Seconds(at)));
  } else if (span > 0)
    sums += fmt::format(", {}/s", HumanBytes(total.amount / span));
  if (p.shown().source == profile::Source::kForeign)
    sums += "; as pprof tells it: how far off it may be is not known";
  else
    sums +=
        fmt::format("; {} {} {} {}",
                    at_least      ? "at least, by"
                    : p.counted() ? "exactly, by"
                                  : "by",
                    Thousands(total.samples),
                    p.shown().mixed ? fmt::format("{} and {}", EventName(profile::Source::kSampled),
                                                  EventName(profile::Source::kTick))
                                    : std::string(p.event()),
                    p.by_callbacks()                               ? "callbacks"
                    : p.counted()                                  ? "events"
                    : p.shown().measure == profile::Measure::kLive ? "samples that are followed"
                                                                   : "samples");
  return sums;
}

// How the figures come about, where they are not plain.
std::string SourceText(const Input& input, const TextOptions& o) {
  const Profile& p = input.profile;
  std::string out;
  if (p.shown().measure == profile::Measure::kLive) {
    std::string live =
        p.shown().source == profile::Source::kForeign
            ? "Live: in use, as the program that wrote the profile counts it."
            : "Live: not found dead by the last GC of its generation; objects that no GC looked at "
              "yet are left out.";
    if (input.older_than_s != 0)
      live += fmt::format(" Only what is {} old or older.", HumanAge(input.older_than_s));
    out += Wrap(live, 0, 0, o.width);
    if (const profile::Figure* allocated = p.Find(profile::Measure::kAllocations);
        allocated != nullptr && allocated->windows.any())
      out += Wrap(
          "Under a limit of overhead objects are followed that were allocated in windows of time. "
          "They stand for the others; a type of which none was is not here.",
          0, 0, o.width);
    if (profile::OnlyInWindows(p))
      out += Wrap(profile::LiveWindowNote(p.requests.windows), 0, 0, o.width);
  }
  if (p.shown().mixed)
    out += Wrap(
        "Runtimes before .NET 10 are sampled by AllocationTick, the others by AllocationSampled. "
        "Figures that rest on ticks are biased and have no interval.",
        0, 0, o.width);
  if (p.shown().windows.any())
    out += Wrap(profile::AllocationWindowsNote(p.shown()), 0, 0, o.width);
  if (p.biased())
    out += Wrap(
        "AllocationTick fires once per 100 KB of a heap: figures are biased, without an interval.",
        0, 0, o.width);
  return out;
}

}  // namespace

std::string HeadingText(const Input& input, const TextOptions& o, bool with_sums) {
  const Profile& p = input.profile;
  const Estimate total = p.Total();
  std::string out = ProcessesText(p, o);
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
  if (const profile::Overhead overhead = profile::OverheadOf(p); overhead.limit > 0)
    out += Wrap(profile::OverheadNote(overhead), 0, 0, o.width);
  if (!with_sums) return out;
  if (p.shown().events()) return out + EventsHeading(p, total, span, o) + OtherMeasures(p, o);
  const std::string bytes = HumanBytes(total.amount);
  out += o.style.Bold(bytes) + Wrap(SumsText(p, total, span), 0, 0, o.width).substr(bytes.size());
  out += SourceText(input, o);
  for (const std::string& sentence : CountingSentences(p)) out += Wrap(sentence, 0, 0, o.width);
  out += OtherMeasures(p, o);
  for (const profile::Source also : p.shown().also)
    out += fmt::format("Also recorded: {} (--event {})\n", EventName(also), SourceWord(also));
  return out;
}

std::string FooterText(const Input& input, bool marked_few, size_t width) {
  std::string out;
  if (marked_few)
    out += fmt::format("~ rests on fewer than {} samples: a rough figure\n", kFewSamples);
  const auto& lines = input.profile.lines;
  if (std::any_of(lines.begin(), lines.end(), [&](const profile::SourceLine& line) {
        return line.approximate(input.profile.measure());
      }))
    out += "≈ may be another line of the method\n";
  for (const std::string& note : input.line_notes) out += Wrap(note, 0, 2, width);
  out += LossesText(input.profile.losses, width);
  return out;
}

}  // namespace clrscope::report
