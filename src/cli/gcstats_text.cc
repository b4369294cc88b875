// SPDX-License-Identifier: Apache-2.0
#include "cli/gcstats_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <vector>

#include "cli/humanize.h"
#include "cli/shorten.h"
#include "cli/text_table.h"
#include "cli/wrap.h"
#include "clr/gc_names.h"

namespace clrscope::cli {
namespace {

using analysis::GcFigures;
using analysis::GcRollup;
using analysis::ProcessGcs;
using profile::GcRecord;

constexpr const char* kUnknown = "–";

std::string Millis(double ns) {
  if (!std::isfinite(ns) || ns < 0) return kUnknown;
  const double ms = ns / 1e6;
  return ms >= 1000  ? Thousands(static_cast<uint64_t>(std::llround(ms)))
         : ms >= 100 ? fmt::format("{:.0f}", ms)
         : ms >= 10  ? fmt::format("{:.1f}", ms)
                     : fmt::format("{:.2f}", ms);
}
std::string Millis(int64_t ns) { return Millis(static_cast<double>(ns)); }

std::string Mib(int64_t bytes) {
  if (bytes < 0) return kUnknown;
  const double mib = static_cast<double>(bytes) / (1024.0 * 1024.0);
  return mib == 0     ? "0"
         : mib >= 100 ? fmt::format("{:.0f}", mib)
         : mib >= 0.1 ? fmt::format("{:.1f}", mib)
                      : fmt::format("{:.2f}", mib);
}

std::string Percent(double v) {
  return std::isfinite(v) ? fmt::format("{:.0f}", v) : std::string(kUnknown);
}

// "2B", "0F", "1N", and an I when it was asked for: PerfView's letters.
std::string Kind(const GcRecord& r) {
  if (r.generation < 0) return kUnknown;
  std::string out = std::to_string(r.generation);
  out += r.type == 1 ? "B" : r.type == 2 ? "F" : r.type == 0 ? "N" : "";
  if (r.reason == 7)
    out += "i";
  else if (clr::IsInduced(r.reason))
    out += "I";
  return out;
}

std::string Marks(const GcRecord& r) {
  std::string out;
  if (r.has(profile::kGcMaybeTouched)) out += "!";
  if (!r.has(profile::kGcComplete)) out += "?";
  return out;
}

std::string ReasonText(int32_t reason) {
  const std::string_view name = clr::GcReasonName(reason);
  return name.empty() ? std::to_string(reason) : std::string(name);
}

std::string RollupName(const GcRollup& r) {
  if (r.generation < 0) return "all";
  std::string name = fmt::format("gen{}", r.generation);
  if (r.background == 0) name = "  blocking";
  if (r.background == 1) name = "  background";
  return name;
}

std::string Rollup(const ProcessGcs& report, const GcTextOptions& o) {
  using A = Align;
  std::vector<TextColumn> columns = {
      {"Generation"},          {"GCs", A::kRight},       {"Induced", A::kRight},
      {"Pause ms", A::kRight}, {"Mean", A::kRight},      {"p95", A::kRight},
      {"Max", A::kRight},      {"Alloc MiB", A::kRight}, {"per pause ms", A::kRight},
      {"Promoted", A::kRight}, {"Peak", A::kRight}};
  if (o.wide)
    for (const char* title :
         {"p50", "p99", "Max suspend", "Max alloc MiB/s", "Compacting", "Pinned"})
      columns.push_back({title, A::kRight});
  TextTable table(columns);
  for (const GcRollup& r : report.stats.rollup) {
    if (r.count == 0) continue;
    if (r.background >= 0 && r.count == report.stats.rollup[2].count) continue;  // all of one kind
    const bool allocated = r.allocated_known > 0;
    const double per_pause = r.allocated_per_pause_ns() * 1e6 / (1024 * 1024);
    std::vector<std::string> row = {
        RollupName(r),
        Thousands(r.count),
        r.induced == 0 ? "" : Thousands(r.induced),
        r.pauses_known == 0 ? kUnknown : Millis(r.pause_ns),
        Millis(r.mean_pause_ns()),
        Millis(r.pauses.p95),
        Millis(r.max_pause_ns),
        allocated ? Mib(r.allocated_bytes) : kUnknown,
        std::isfinite(per_pause) ? fmt::format("{:.2f}", per_pause) : std::string(kUnknown),
        r.promoted_known == 0 ? kUnknown : Mib(r.promoted_bytes),
        Mib(r.max_peak_bytes)};
    if (o.wide) {
      row.push_back(Millis(r.pauses.p50));
      row.push_back(Millis(r.pauses.p99));
      row.push_back(Millis(r.max_suspend_ns));
      row.push_back(std::isfinite(r.max_allocated_per_second)
                        ? fmt::format("{:.1f}", r.max_allocated_per_second / (1024 * 1024))
                        : std::string(kUnknown));
      row.push_back(Thousands(r.compacting));
      row.push_back(r.pinned_known == 0
                        ? kUnknown
                        : fmt::format("{:.1f}", static_cast<double>(r.pinned_objects) /
                                                    static_cast<double>(r.pinned_known)));
    }
    table.Add(std::move(row));
  }
  return o.style.Bold("By generation") + "\n" +
         table.Render(o.wide ? ~size_t{0} : o.width, o.style);
}

// "string 45 %, Orders.Line[] 20 %": what was allocated most since the GC before.
std::string Mostly(const GcRecord& r, const profile::Profile& p) {
  std::string out;
  constexpr size_t kShown = 2;
  for (size_t i = 0; i < std::min(kShown, r.top_types.size()) && r.sampled_bytes > 0; ++i) {
    const profile::GcAllocated& a = r.top_types[i];
    out +=
        fmt::format("{}{} {}", i == 0 ? "" : ", ", Printable(p.str(p.types[a.type].name)),
                    HumanShare(static_cast<double>(a.bytes), static_cast<double>(r.sampled_bytes)));
  }
  return out;
}

// The first columns of the table of collections.
std::vector<std::string> Cells(const GcRecord& r, const GcFigures& f) {
  std::vector<std::string> row = {std::to_string(r.number),
                                  fmt::format("{:.3f}", static_cast<double>(r.start_ns) / 1e9),
                                  Kind(r),
                                  ReasonText(r.reason),
                                  Millis(r.pause_ns),
                                  Millis(r.suspend_ns),
                                  Mib(f.allocated_bytes),
                                  Mib(f.peak_bytes),
                                  Mib(f.promoted_bytes)};
  for (const int64_t size : r.size_after) row.push_back(Mib(size));
  return row;
}

std::string Collections(const ProcessGcs& report, const profile::Profile& p,
                        const GcTextOptions& o) {
  using A = Align;
  std::vector<TextColumn> columns = {
      {"GC", A::kRight},    {"At s", A::kRight},  {"Gen"},
      {"Reason"},           {"Pause", A::kRight}, {"Susp", A::kRight},
      {"Alloc", A::kRight}, {"Peak", A::kRight},  {"Promo", A::kRight},
      {"gen0", A::kRight},  {"gen1", A::kRight},  {"gen2", A::kRight},
      {"LOH", A::kRight},   {"POH", A::kRight},   {"", A::kLeft}};
  if (o.wide)
    for (const char* title :
         {"Duration", "% pause",  "Alloc/s", "After", "Surv0 %",   "Surv1 %", "Surv2 %",
          "LOH %",    "POH %",    "Frag0",   "Frag1", "Frag2",     "LOH",     "POH",
          "Fin MiB",  "Pinned",   "Handles", "Heaps", "Committed", "Load %",  "Mark",
          "Plan",     "Relocate", "Compact", "Sweep"})
      columns.push_back({title, A::kRight});
  if (o.wide) columns.push_back({"Mostly allocated before"});
  TextTable table(columns);
  std::vector<size_t> order(report.gcs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (o.by_pause)
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return report.gcs[a].pause_ns > report.gcs[b].pause_ns;
    });
  const size_t shown = std::min(o.limit, order.size());
  if (!o.by_pause) order.erase(order.begin(), order.end() - static_cast<std::ptrdiff_t>(shown));
  order.resize(shown);
  for (const size_t i : order) {
    const GcRecord& r = report.gcs[i];
    const GcFigures& f = report.figures[i];
    std::vector<std::string> row = Cells(r, f);
    row.push_back(Marks(r));
    if (o.wide) {
      using profile::GcPhase;
      const auto phase = [&](GcPhase one) {
        const int64_t us = r.phase_us[static_cast<size_t>(one)];
        return us < 0 ? std::string(kUnknown) : Millis(us * 1000);
      };
      row.push_back(r.ended() ? Millis(r.end_ns - r.start_ns) : kUnknown);
      row.push_back(Percent(f.pause_percent));
      row.push_back(std::isfinite(f.allocated_per_second)
                        ? Mib(static_cast<int64_t>(f.allocated_per_second))
                        : kUnknown);
      row.push_back(Mib(f.after_bytes));
      for (const double s : f.survival_percent) row.push_back(Percent(s));
      for (const int64_t b : f.fragmentation) row.push_back(Mib(b));
      row.push_back(Mib(r.finalization_promoted_bytes));
      row.push_back(r.pinned_objects < 0 ? kUnknown : std::to_string(r.pinned_objects));
      row.push_back(r.handles < 0 ? kUnknown : std::to_string(r.handles));
      row.push_back(r.heap_count < 0 ? kUnknown : std::to_string(r.heap_count));
      row.push_back(
          Mib(r.committed_after.known() ? r.committed_after.total() : r.committed_before.total()));
      row.push_back(r.memory_load_percent < 0 ? kUnknown : std::to_string(r.memory_load_percent));
      row.push_back(phase(GcPhase::kMarkRoots));
      for (const GcPhase one :
           {GcPhase::kPlan, GcPhase::kRelocate, GcPhase::kCompact, GcPhase::kSweep})
        row.push_back(phase(one));
      row.push_back(Mostly(r, p));
    }
    table.Add(std::move(row));
  }
  std::string title = o.by_pause ? "Longest pauses" : "Collections";
  if (shown < report.gcs.size())
    title += fmt::format(" ({} {} of {}; -n 0 shows all)", o.by_pause ? "" : "the last", shown,
                         Thousands(report.gcs.size()));
  return o.style.Bold(title) + "  pauses in ms, sizes after the GC in MiB\n" +
         table.Render(o.wide ? ~size_t{0} : o.width, o.style);
}

std::string Pauses(const ProcessGcs& report, const GcTextOptions& o) {
  const analysis::GcStats& s = report.stats;
  if (s.pauses.max < 0) return {};
  std::string out = o.style.Bold("Pauses") +
                    fmt::format("  p50 {} · p95 {} · p99 {} · max {} ms\n", Millis(s.pauses.p50),
                                Millis(s.pauses.p95), Millis(s.pauses.p99), Millis(s.pauses.max));
  uint64_t most = 0;
  for (const auto& b : s.pause_histogram) most = std::max(most, b.count);
  for (const auto& b : s.pause_histogram) {
    const std::string label = fmt::format("{:g}–{:g} ms", static_cast<double>(b.from_ns) / 1e6,
                                          static_cast<double>(b.to_ns) / 1e6);
    const size_t width = o.width > 60 ? o.width - 40 : 20;
    const auto bar = static_cast<size_t>(
        std::ceil(static_cast<double>(b.count * width) / static_cast<double>(most)));
    out += std::string(16 - std::min<size_t>(16, DisplayWidth(label)), ' ') + label +
           fmt::format("  {:>6}  ", b.count);
    for (size_t i = 0; i < bar; ++i) out += "█";
    out += "\n";
  }
  return out;
}

std::string Heading(const ProcessGcs& report, const profile::Profile& p, const GcTextOptions& o) {
  const profile::Process& process = p.processes[report.process];
  const profile::GcFacts& facts = p.processes[report.process].gc;
  const analysis::GcStats& s = report.stats;
  const std::string_view name = p.str(process.name);
  std::string out =
      o.style.Bold(Printable(name.empty() ? "process" : name)) + fmt::format(" ({})", process.pid);
  if (const std::string_view runtime = p.str(process.runtime); !runtime.empty())
    out += fmt::format(" · {}", Printable(runtime));
  if (facts.startup_flags >= 0)
    out += (facts.startup_flags & 0x1000) != 0 ? " · server GC" : " · workstation GC";
  if (s.max_heap_count > 1) out += fmt::format(", {} heaps", s.max_heap_count);
  out += fmt::format(" · {} recorded\n", HumanDuration(static_cast<double>(s.span_ns) / 1e9));
  std::string line = fmt::format("{} GCs", Thousands(report.gcs.size()));
  if (s.pauses.max >= 0)
    line += fmt::format(" stopped it for {} ms, {} of the time", Millis(s.paused_ns),
                        HumanShare(static_cast<double>(s.paused_ns),
                                   static_cast<double>(std::max<int64_t>(s.span_ns, 1))));
  if (s.max_peak_bytes >= 0)
    line += fmt::format("; largest heap {}", HumanBytes(static_cast<double>(s.max_peak_bytes)));
  if (s.all().allocated_known > 0)
    line += fmt::format("; allocated {}", HumanBytes(static_cast<double>(s.all().allocated_bytes)));
  if (s.all().allocated_known > 0 && s.all().allocated_known < s.all().count)
    line += fmt::format(" before the {} that tell it", Thousands(s.all().allocated_known));
  out += Wrap(line, 0, 0, o.width);
  return out;
}

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

std::string Advice(const ProcessGcs& report, const GcTextOptions& o) {
  if (report.advice.empty()) return {};
  std::string out = "\n" + o.style.Bold("Advice") + "\n";
  for (const analysis::GcAdvice& a : report.advice)
    out += Wrap(fmt::format("{}: {}. {} Setting: {}", a.rule, a.evidence, a.advice, a.setting), 0,
                2, o.width);
  return out;
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

std::string BlameText(const ProcessGcs& report, const profile::Profile& p, const GcTextOptions& o) {
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
  say(GcCpu(facts));
  if (facts.other_suspensions > 0)
    say(fmt::format("{} suspensions ({} ms) were not the GC's and count nowhere",
                    Thousands(facts.other_suspensions), Millis(facts.other_suspended_ns)));
  return out;
}

}  // namespace

std::string GcText(const ProcessGcs& report, const profile::Profile& profile,
                   const GcTextOptions& o) {
  std::string out = Heading(report, profile, o);
  if (report.gcs.empty()) return out + Remarks(report, profile, o);
  out += "\n" + Rollup(report, o) + "\n" + Pauses(report, o);
  if (o.collections) out += "\n" + Collections(report, profile, o);
  out += Advice(report, o) + InducedBy(report, profile, o) + BlameText(report, profile, o);
  const profile::GcFacts& facts = profile.processes[report.process].gc;
  AddTypes(out, "Pinned", true, facts.pinned_types, profile, o);
  AddTypes(out, "Finalized", false, facts.finalized_types, profile, o);
  const std::string remarks = Remarks(report, profile, o);
  return remarks.empty() ? out : out + "\n" + remarks;
}

namespace {

// Of the columns of live lines, as Cells() gives them; below 0: to the left.
constexpr int kLineWidths[] = {5, 8, -4, -10, 6, 5, 5, 6, 5, 6, 5, 6, 6, 5};
constexpr const char* kLineTitles[] = {"GC",   "At s",  "Gen",  "Reason", "Pause", "Susp", "Alloc",
                                       "Peak", "Promo", "gen0", "gen1",   "gen2",  "LOH",  "POH"};

std::string Pad(const std::string& cell, int width) {
  const size_t wide = static_cast<size_t>(std::abs(width)), is = DisplayWidth(cell);
  const std::string room(wide > is ? wide - is : 0, ' ');
  return width < 0 ? cell + room : room + cell;
}

}  // namespace

std::string GcLines::Heading() const {
  std::string out = several_ ? Pad("PID", 8) : std::string();
  for (size_t i = 0; i < std::size(kLineWidths); ++i)
    out += (out.empty() ? "" : " ") + Pad(kLineTitles[i], kLineWidths[i]);
  return style_.Bold(out) + "\n";
}

std::string GcLines::Line(const ProcessGcs& report, size_t index,
                          const profile::Profile& profile) const {
  const GcRecord& r = report.gcs[index];
  std::string out =
      several_ ? Pad(std::to_string(profile.processes[report.process].pid), 8) : std::string();
  std::vector<std::string> cells = Cells(r, report.figures[index]);
  constexpr size_t kReason = 3, kReasonWidth = 10;
  if (cells[kReason].size() > kReasonWidth)
    cells[kReason] = cells[kReason].substr(0, kReasonWidth - 1) + "…";
  for (size_t i = 0; i < cells.size(); ++i)
    out += (out.empty() ? "" : " ") + Pad(cells[i], kLineWidths[i]);
  if (const std::string marks = Marks(r); !marks.empty()) out += " " + marks;
  return out + "\n";
}

}  // namespace clrscope::cli
