// SPDX-License-Identifier: Apache-2.0
#include "cli/report_gc_cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/humanize.h"
#include "cli/report_cells.h"
#include "cli/text_table.h"

namespace clrscope::cli {
namespace {

using profile::Profile;
using Row = profile::GcCpuRow;

void AddKnown(int64_t& sum, int64_t ns) {
  // Sums of hostile captures stay whole too.
  if (ns >= 0) sum = std::min(int64_t{1} << 60, (sum < 0 ? 0 : sum) + ns);
}

void AddUp(Row& sum, const Row& row) {
  sum.start_ns = std::min(sum.start_ns, row.start_ns);
  sum.end_ns = std::max(sum.end_ns, row.end_ns);
  AddKnown(sum.process_ns, row.process_ns);
  AddKnown(sum.server_gc_ns, row.server_gc_ns);
  AddKnown(sum.background_gc_ns, row.background_gc_ns);
  AddKnown(sum.workstation_gc_ns, row.workstation_gc_ns);
}

std::vector<Row> ByProcess(const Profile& p) {
  std::map<uint32_t, Row> sums;
  for (const Row& row : p.gc_cpu) {
    const auto [at, is_new] = sums.try_emplace(row.process, row);
    if (!is_new) AddUp(at->second, row);
  }
  std::vector<Row> rows;
  for (const auto& [process, sum] : sums) rows.push_back(sum);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.gc_ns() > b.gc_ns(); });
  return rows;
}

std::string CpuText(int64_t ns) {
  return ns < 0 ? "-" : HumanDuration(static_cast<double>(ns) / 1e9);
}
std::string ShareText(const Row& r) {
  return r.gc_ns() < 0 || r.process_ns <= 0
             ? "-"
             : HumanShare(static_cast<double>(r.gc_ns()), static_cast<double>(r.process_ns));
}

std::string Table(const std::vector<Row>& rows, const Profile& p, bool times,
                  const TextOptions& o) {
  TextTable text({{"", Align::kLeft},
                  {times ? "From" : "Pid", Align::kRight},
                  {"GC CPU", Align::kRight},
                  {"Share", Align::kRight},
                  {"Server", Align::kRight},
                  {"Background", Align::kRight},
                  {"Workstation", Align::kRight},
                  {"Whole CPU", Align::kRight},
                  {times ? "" : "Process", Align::kLeft, TextColumn::Fit::kMiddle}});
  for (const Row& r : rows) {
    const profile::Process& process = p.processes[r.process];
    text.Add(
        {"", times ? ClockText(static_cast<double>(r.start_ns) / 1e9) : std::to_string(process.pid),
         CpuText(r.gc_ns()), ShareText(r), CpuText(r.server_gc_ns), CpuText(r.background_gc_ns),
         CpuText(r.workstation_gc_ns), CpuText(r.process_ns),
         times && p.processes.size() < 2 ? "" : std::string(p.str(process.name))},
        false);
  }
  return text.Render(o.width, o.style);
}

}  // namespace

Json GcCpuRow(const Row& r, const Profile& p) {
  const auto seconds = [](int64_t ns) {
    return ns < 0 ? Json() : Json(static_cast<double>(ns) / 1e9);
  };
  const bool shared = r.gc_ns() >= 0 && r.process_ns > 0;
  const double share =
      shared ? static_cast<double>(r.gc_ns()) / static_cast<double>(r.process_ns) : 0;
  return {{"process", p.str(p.processes[r.process].name)},
          {"pid", p.processes[r.process].pid},
          {"start_s", static_cast<double>(r.start_ns) / 1e9},
          {"end_s", static_cast<double>(r.end_ns) / 1e9},
          {"gc_cpu_s", seconds(r.gc_ns())},
          {"gc_share", shared ? Json(std::round(share * 1e6) / 1e6) : Json()},
          {"server_gc_s", seconds(r.server_gc_ns)},
          {"background_gc_s", seconds(r.background_gc_ns)},
          {"workstation_gc_s", seconds(r.workstation_gc_ns)},
          {"process_cpu_s", seconds(r.process_ns)}};
}

Json GcCpuTotals(const Profile& p) {
  Json all = Json::array();
  for (const Row& r : ByProcess(p)) all.push_back(GcCpuRow(r, p));
  return all;
}

std::string GcCpuText(const Profile& p, size_t limit, const TextOptions& o) {
  std::string out = o.style.Bold("GC CPU: processor time of the garbage collector, of the whole") +
                    "\n" + Table(ByProcess(p), p, false, o);
  std::vector<Row> rows;
  // So many neighbours of a process become one row.
  const size_t each = (p.gc_cpu.size() + limit - 1) / std::max<size_t>(limit, 1);
  size_t in_row = 0;
  for (const Row& r : p.gc_cpu) {
    if (!rows.empty() && rows.back().process == r.process && in_row < each) {
      AddUp(rows.back(), r);
      ++in_row;
    } else {
      rows.push_back(r);
      in_row = 1;
    }
  }
  return out + "\n" + o.style.Bold("Over time") + "\n" + Table(rows, p, true, o);
}

}  // namespace clrscope::cli
