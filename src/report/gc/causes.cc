// SPDX-License-Identifier: Apache-2.0
// What collections came from, what they found, and what is to be said beside their figures.
#include <fmt/format.h>

#include <algorithm>

#include "report/gc/parts.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"
#include "report/text/text_table.h"
#include "report/text/wrap.h"

namespace clrscope::report::gctext {

using analysis::ProcessGcs;

namespace {

void AddTypes(std::string& out, const char* title, bool bytes,
              const std::vector<profile::GcFacts::TypeCount>& types, const profile::Profile& p,
              const GcTextOptions& o) {
  if (types.empty()) return;
  TextTable table({{"Count", Align::kRight},
                   {bytes ? "MiB" : "", Align::kRight},
                   {"Type", Align::kLeft, TextColumn::Fit::kName}});
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < std::min(kShown, types.size()); ++i)
    table.Add({Thousands(types[i].count),
               bytes ? Mib(static_cast<int64_t>(types[i].bytes)) : std::string(),
               std::string(p.str(types[i].name))});
  out += "\n" + o.style.Bold(title) + "\n" + table.Render(o.width, o.style);
  if (types.size() > kShown)
    out += fmt::format("… and {} more types: --json\n", types.size() - kShown);
}

// Leaf first, as many methods as say something.
std::string StackText(uint32_t node, const profile::Profile& p) {
  constexpr uint8_t kDull = profile::kFramework | profile::kMachinery | profile::kPseudo;
  std::string out;
  size_t own = 0;
  for (; node != 0 && own < 3; node = p.nodes[node].parent) {
    const profile::Frame& frame = p.frames[p.nodes[node].frame];
    if ((frame.flags & kDull) != 0) continue;
    out += fmt::format("{}{}", own++ == 0 ? "" : " < ", Printable(p.str(frame.method)));
  }
  return out;
}

// What the GC's own threads used, seen from outside.
std::string GcCpu(const profile::GcFacts& f) {
  if (f.cpu_to_ns < 0)
    return "The GC's CPU time is not known: it is read while clrscope records, and this file is "
           "not such a recording";
  std::string out = "CPU time of the GC's own threads: ";
  const auto part = [&](std::string_view name, int64_t threads, int64_t ns) {
    return threads <= 0 ? fmt::format("no {} threads", name)
                        : fmt::format("{} {} {} ms", threads, name, Millis(ns));
  };
  out += part("server GC", f.server_threads, f.server_cpu_ns) + ", " +
         part("background GC", f.background_threads, f.background_cpu_ns);
  if (f.process_cpu_ns >= 0)
    out += fmt::format("; the whole process {} ms", Millis(f.process_cpu_ns));
  if (f.server_threads <= 0)
    out += "; blocking GCs run on the program's own threads, whose share nothing tells";
  return out;
}

// What was configured, as far as the runtime told it.
std::string Settings(const profile::GcFacts& f) {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
  const auto bytes = [](int64_t n) { return HumanBytes(static_cast<double>(n)); };
  if (f.setting_bits >= 0) add((f.setting_bits & 1) != 0 ? "concurrent" : "not concurrent");
  if (f.physical_memory_bytes > 0) add(fmt::format("memory {}", bytes(f.physical_memory_bytes)));
  if (f.high_memory_percent > 0) add(fmt::format("high from {} % on", f.high_memory_percent));
  if (f.loh_threshold_bytes > 0)
    add(fmt::format("LOH from {} bytes on",
                    Thousands(static_cast<uint64_t>(f.loh_threshold_bytes))));
  if (f.gen0_min_budget_bytes > 0)
    add(fmt::format("gen0 budget at least {}", bytes(f.gen0_min_budget_bytes)));
  if (f.gen0_max_budget_bytes > 0) add(fmt::format("at most {}", bytes(f.gen0_max_budget_bytes)));
  return out.empty() ? out : "Settings: " + out;
}

}  // namespace

std::string Advice(const ProcessGcs& report, const GcTextOptions& o) {
  if (report.advice.empty()) return {};
  std::string out = "\n" + o.style.Bold("Advice") + "\n";
  for (const analysis::GcAdvice& a : report.advice)
    out += Wrap(fmt::format("{}: {}. {} Setting: {}", a.rule, a.evidence, a.advice, a.setting), 0,
                2, o.width);
  return out;
}

std::string InducedBy(const ProcessGcs& report, const profile::Profile& p, const GcTextOptions& o) {
  if (report.induced_by.empty()) return {};
  TextTable table({{"GCs", Align::kRight},
                   {"Pause ms", Align::kRight},
                   {"Asked for by", Align::kLeft, TextColumn::Fit::kName}});
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < std::min(kShown, report.induced_by.size()); ++i) {
    const analysis::InducingStack& s = report.induced_by[i];
    const std::string stack = StackText(s.node, p);
    table.Add({Thousands(s.gcs), Millis(s.pause_ns), stack.empty() ? "[no stack]" : stack});
  }
  std::string out = "\n" + o.style.Bold("Induced") + "\n" + table.Render(o.width, o.style);
  if (report.induced_by.size() > kShown)
    out += fmt::format("… and {} more stacks: --json\n", report.induced_by.size() - kShown);
  return out;
}

std::string AllocatedBefore(const ProcessGcs& report, const profile::Profile& p,
                            const GcTextOptions& o) {
  const analysis::Blame& blame = report.blame;
  if (blame.pause_ns <= 0) return {};
  TextTable table({{"Pause ms", Align::kRight},
                   {"Share", Align::kRight},
                   {"~MiB", Align::kRight},
                   {"Type", Align::kLeft, TextColumn::Fit::kName}});
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < std::min(kShown, blame.types.size()); ++i) {
    const analysis::TypeBlame& t = blame.types[i];
    table.Add({Millis(t.pause_ns), HumanShare(t.pause_ns, blame.pause_ns), Mib(t.bytes),
               std::string(p.str(p.types[t.type].name))});
  }
  return "\n" + o.style.Bold("What was allocated before") +
         "  each pause split by what was allocated since the GC before it\n" +
         table.Render(o.width, o.style);
}

std::string PinnedAndFinalized(const ProcessGcs& report, const profile::Profile& p,
                               const GcTextOptions& o) {
  const profile::GcFacts& facts = p.processes[report.process].gc;
  std::string out;
  AddTypes(out, "Pinned", true, facts.pinned_types, p, o);
  AddTypes(out, "Finalized", false, facts.finalized_types, p, o);
  return out;
}

std::string Remarks(const ProcessGcs& report, const profile::Profile& p, const GcTextOptions& o) {
  const profile::GcFacts& facts = p.processes[report.process].gc;
  const analysis::GcStats& s = report.stats;
  std::string out;
  const auto say = [&](const std::string& text) { out += Wrap(text, 0, 2, o.width); };
  if (s.maybe_touched > 0)
    say(fmt::format("! marks {} GCs during which events were lost: their figures may be too low",
                    Thousands(s.maybe_touched)));
  if (s.incomplete > 0)
    say(fmt::format("? marks {} GCs of which not everything was seen", Thousands(s.incomplete)));
  if (facts.missing > 0)
    say(fmt::format("{} GCs are missing by their numbers: their events were lost",
                    Thousands(facts.missing)));
  if (facts.counted_only > 0)
    say(
        fmt::format("{} more GCs were counted (GC.CollectionCount) and did not run: "
                    "TryStartNoGCRegion had room enough without them",
                    Thousands(facts.counted_only)));
  if (facts.orphan_ends > 0)
    say(fmt::format("{} ran already when the recording began and {} not shown",
                    facts.orphan_ends == 1 ? "One GC" : Thousands(facts.orphan_ends) + " GCs",
                    facts.orphan_ends == 1 ? "is" : "are"));
  if (!s.slow_suspensions.empty()) {
    std::string gcs;
    for (size_t i = 0; i < std::min<size_t>(5, s.slow_suspensions.size()); ++i)
      gcs += fmt::format("{}{}", i == 0 ? "" : ", ", report.gcs[s.slow_suspensions[i]].number);
    say(fmt::format("Slow to stand still (median {} ms): GC {}{}, up to {} ms",
                    Millis(s.suspensions.p50), gcs, s.slow_suspensions.size() > 5 ? " …" : "",
                    Millis(s.suspensions.max)));
  }
  if (!s.heap_counts.empty())
    say(fmt::format("The number of heaps changed {} times, last to {}", s.heap_counts.size(),
                    s.heap_counts.back().to));
  if (facts.hard_limit_bytes > 0)
    say(fmt::format("The heap's limit is {}",
                    HumanBytes(static_cast<double>(facts.hard_limit_bytes))));
  if (const std::string settings = Settings(facts); !settings.empty()) say(settings);
  say(GcCpu(facts));
  if (facts.other_suspensions > 0)
    say(fmt::format("Suspensions without a collection count nowhere: {} ({} ms)",
                    Thousands(facts.other_suspensions), Millis(facts.other_suspended_ns)));
  return out;
}

}  // namespace clrscope::report::gctext
