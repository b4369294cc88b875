// SPDX-License-Identifier: Apache-2.0
#include "report/rows/counting.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text/humanize.h"

namespace clrscope::report {
namespace {

using profile::Counting;
using profile::CountMode;
using profile::Profile;

Counting Sum(const Profile& p) {
  Counting sum;
  sum.mode = p.processes.empty() ? CountMode::kUnknown : p.processes[0].counting.mode;
  for (const profile::Process& process : p.processes) {
    const Counting& c = process.counting;
    sum.mode = std::min(sum.mode, c.mode);
    sum.added += c.added;
    sum.guessed += c.guessed;
    sum.threads = std::max(sum.threads, c.threads);
    sum.gaps += c.gaps;
    sum.gc_bytes += c.gc_bytes;
  }
  return sum;
}

std::string WhyNotExact(const Profile& p, const Counting& sum) {
  if (sum.mode == CountMode::kUnknown)
    return "At least: these events tell what a type's threads allocated since the event before, "
           "and what came after the last one is missing.";
  if (sum.mode != CountMode::kAll)
    return fmt::format(
        "At least: with --types {} an event tells what its thread allocated of the type since its "
        "event before, charged to the stack of the last object; what came after the last event of "
        "a thread is missing.",
        sum.mode == CountMode::kLow ? "low" : "high");
  std::string why;
  const auto because = [&why](std::string_view reason) {
    why += fmt::format("{}{}", why.empty() ? "" : ", ", reason);
  };
  if (std::any_of(p.processes.begin(), p.processes.end(), [](const auto& x) { return x.dropped; }))
    because("events were lost");
  if (std::any_of(p.processes.begin(), p.processes.end(),
                  [](const auto& x) { return !x.counting.ended; }))
    because("the end of a process was not seen");
  if (sum.gaps != 0) because("assemblies were unloaded or recording was interrupted");
  return fmt::format("At least: every object has its event, but {}.", why);
}

std::string_view ModeName(CountMode mode) {
  constexpr std::string_view kNames[] = {"", "low", "high", "all"};
  return kNames[static_cast<size_t>(mode)];
}

}  // namespace

std::vector<std::string> CountingSentences(const Profile& p) {
  std::vector<std::string> out;
  if (!p.counted()) return out;
  const Counting sum = Sum(p);
  if (p.by_callbacks())
    out.push_back(p.exact() ? "Exact: the runtime called the agent for every object that it counts."
                            : "At least: the runtime called the agent for every object, but not "
                              "all that it noted arrived.");
  else
    out.push_back(p.exact() ? "Exact: every object that the runtime counts has its event here."
                            : WhyNotExact(p, sum));
  if (sum.mode == CountMode::kAll && sum.threads > 1) {
    std::string left_out =
        "The runtime does not count a type's first object on each further thread";
    if (sum.added != 0) {
      left_out += fmt::format(": {} were added, under [no stack]", Thousands(sum.added));
      if (sum.guessed != 0)
        left_out += fmt::format(" ({} of them arrays and strings, of which the size is guessed)",
                                Thousands(sum.guessed));
    }
    out.push_back(left_out + "; a thread that allocated but one of a type is not seen.");
  }
  const auto partial = std::count_if(p.types.begin(), p.types.end(),
                                     [](const profile::Type& t) { return t.partial; });
  if (partial != 0)
    out.push_back(fmt::format(
        "From .NET 10 on boxes, and what else comes from RuntimeTypeHandle.InternalAllocNoChecks, "
        "are {} only when they begin a new allocation context: of {} type{} the figures are "
        "at least so much (≥).",
        p.by_callbacks() ? "told" : "counted", partial, partial == 1 ? "" : "s"));
  const std::optional<double> missing = p.MissingHigh();
  if (missing) {
    const auto handed_out = static_cast<double>(sum.gc_bytes);
    out.push_back(
        fmt::format("By its own count (AllocationTick) the GC handed out {}, unused ends of "
                    "allocation contexts "
                    "included: at most {} ({}) are missing here.",
                    HumanBytes(handed_out), HumanBytes(*missing),
                    HumanShare(*missing, std::max(handed_out, *missing))));
  }
  return out;
}

Json CountingJson(const Counting& c) {
  if (c.mode == CountMode::kUnknown && c.events == 0) return {};
  const std::optional<uint64_t> missing = c.MissingHigh();
  return {{"mode", c.mode == CountMode::kUnknown ? Json() : Json(ModeName(c.mode))},
          {"ended", c.ended},
          {"events", c.events},
          {"loh_threshold", c.loh_threshold},
          {"loh_threshold_known", c.loh_known},
          {"aligned_bytes_low", c.aligned_low},
          {"aligned_bytes_high", c.aligned_high},
          {"added_objects", c.added},
          {"added_objects_of_guessed_size", c.guessed},
          {"threads", c.threads == 0 ? Json() : Json(c.threads)},
          {"gaps", c.gaps},
          {"gc_bytes", c.gc_known ? Json(c.gc_bytes) : Json()},
          {"missing_bytes_high", missing ? Json(*missing) : Json()}};
}

}  // namespace clrscope::report
