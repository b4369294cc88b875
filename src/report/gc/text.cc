// SPDX-License-Identifier: Apache-2.0
#include "report/gc/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/gc/parts.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"
#include "report/text/text_table.h"
#include "report/text/wrap.h"

namespace clrscope::report {
namespace {

using analysis::GcRollup;
using analysis::ProcessGcs;
using gctext::kUnknown;
using gctext::Mib;
using gctext::Millis;

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

// The share of time in pauses, as many stretches as there is room for: "▁▁▂█▁".
std::string OverTime(const ProcessGcs& report, const GcTextOptions& o) {
  const std::vector<analysis::GcShare>& all = report.stats.share;
  if (all.size() < 2) return {};
  constexpr const char* kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const size_t room = o.width > 60 ? o.width - 40 : 20;
  const size_t together = (all.size() + room - 1) / room;
  struct Stretch {
    int64_t start_ns;
    double part;
  };
  std::vector<Stretch> stretches;
  for (size_t i = 0; i < all.size(); i += together) {
    const size_t last = std::min(i + together, all.size()) - 1;
    double paused = 0;
    for (size_t k = i; k <= last; ++k) paused += static_cast<double>(all[k].paused_ns);
    stretches.push_back(
        {all[i].start_ns, paused / static_cast<double>(all[last].end_ns - all[i].start_ns)});
  }
  const auto most = std::max_element(stretches.begin(), stretches.end(),
                                     [](const auto& a, const auto& b) { return a.part < b.part; });
  if (most->part <= 0) return {};
  std::string out = std::string(10, ' ') + "over time  ";
  for (const Stretch& s : stretches)
    out += kBars[static_cast<size_t>(std::ceil(8 * std::min(s.part / most->part, 1.0)))];
  return out + fmt::format("  at most {} at {:.1f} s\n", HumanShare(most->part, 1.0),
                           static_cast<double>(most->start_ns) / 1e9);
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
  return out + OverTime(report, o);
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

}  // namespace

std::string GcText(const ProcessGcs& report, const profile::Profile& profile,
                   const GcTextOptions& o) {
  std::string out = Heading(report, profile, o);
  const std::string remarks = gctext::Remarks(report, profile, o);
  if (report.gcs.empty()) return out + remarks;
  out += "\n" + Rollup(report, o) + "\n" + Pauses(report, o);
  if (o.collections) out += "\n" + gctext::Collections(report, profile, o);
  if (o.wide) out += gctext::SumsOf(report, o);
  out += gctext::Advice(report, o) + gctext::InducedBy(report, profile, o) +
         gctext::AllocatedBefore(report, profile, o) +
         gctext::PinnedAndFinalized(report, profile, o);
  return remarks.empty() ? out : out + "\n" + remarks;
}

}  // namespace clrscope::report
