// SPDX-License-Identifier: Apache-2.0
// The table of collections.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "clr/gc_names.h"
#include "report/gc/parts.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"
#include "report/text/text_table.h"

namespace clrscope::report::gctext {
namespace {

using analysis::GcFigures;
using profile::GcRecord;

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

// What the GC said that it did.
std::string How(const GcRecord& r, const GcFigures& f) {
  if (r.mechanisms < 0) return kUnknown;
  std::string out;
  const auto add = [&](bool yes, const char* word) {
    if (yes) out += (out.empty() ? "" : ", ") + std::string(word);
  };
  add(f.compacted, "compacting");
  add(f.promoted, "promotion");
  add(f.demoted, "demotion");
  return out;
}

}  // namespace

std::string Collections(const analysis::ProcessGcs& report, const profile::Profile& p,
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
         {"Duration", "% pause",  "Alloc/s", "After",     "Surv0 %",    "Surv1 %", "Surv2 %",
          "LOH %",    "POH %",    "Frag0",   "Frag1",     "Frag2",      "LOH",     "POH",
          "Fin MiB",  "Pinned",   "Handles", "Heaps",     "Committed",  "Load %",  "Mark",
          "Plan",     "Relocate", "Compact", "Sweep",     "Peak/After", "Bud0",    "Bud1",
          "Bud2",     "LOH",      "POH",     "Pinned MiB"})
      columns.push_back({title, A::kRight});
  if (o.wide) columns.push_back({"How"});
  if (o.wide) columns.push_back({"Condemned"});
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
    const GcRecord r = report.gcs[i].Unpack();
    const GcFigures f = analysis::FiguresOf(r, report.figures.flows()[i]);
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
      row.push_back(std::isfinite(f.allocated_per_second())
                        ? Mib(static_cast<int64_t>(f.allocated_per_second()))
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
      row.push_back(f.peak_bytes >= 0 && f.after_bytes > 0
                        ? fmt::format("{:.2f}", static_cast<double>(f.peak_bytes) /
                                                    static_cast<double>(f.after_bytes))
                        : std::string(kUnknown));
      for (const int64_t b : f.budget) row.push_back(Mib(b));
      row.push_back(Mib(r.pinned_seen_bytes));
      row.push_back(How(r, f));
      row.push_back(Condemned(r));
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

}  // namespace clrscope::report::gctext
