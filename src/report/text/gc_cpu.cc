// SPDX-License-Identifier: Apache-2.0
#include "report/text/gc_cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "report/text/cells.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"
#include "report/text/text_table.h"

namespace clrscope::report {
namespace {

using profile::Profile;
using Row = profile::GcCpuRow;

std::vector<Row> ByProcess(const Profile& p) {
  std::map<uint32_t, Row> sums;
  for (const Row& row : p.gc_cpu()) {
    const auto [at, is_new] = sums.try_emplace(row.process, row);
    if (!is_new) at->second += row;
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
  // Threads that no row knows have no column.
  struct Part {
    const char* title;
    int64_t Row::*ns;
  };
  std::vector<Part> parts;
  for (const Part& part :
       {Part{"Server", &Row::server_gc_ns}, Part{"Background", &Row::background_gc_ns},
        Part{"Workstation", &Row::workstation_gc_ns}})
    if (std::any_of(rows.begin(), rows.end(), [&](const Row& r) { return r.*part.ns >= 0; }))
      parts.push_back(part);
  std::vector<TextColumn> columns = {{"", Align::kLeft},
                                     {times ? "From" : "Pid", Align::kRight},
                                     {"GC CPU", Align::kRight},
                                     {"Share", Align::kRight}};
  for (const Part& part : parts) columns.push_back({part.title, Align::kRight});
  columns.push_back({"Whole CPU", Align::kRight});
  const bool names = !times || p.processes.size() > 1;
  if (names) columns.push_back({"Process", Align::kLeft, TextColumn::Fit::kMiddle});
  TextTable text(columns);
  for (const Row& r : rows) {
    const profile::Process& process = p.processes[r.process];
    std::vector<std::string> cells = {
        "", times ? ClockText(static_cast<double>(r.start_ns) / 1e9) : std::to_string(process.pid),
        CpuText(r.gc_ns()), ShareText(r)};
    for (const Part& part : parts) cells.push_back(CpuText(r.*part.ns));
    cells.push_back(CpuText(r.process_ns));
    if (names) cells.push_back(Printable(p.str(process.name)));
    text.Add(std::move(cells), false);
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
  std::string out = o.style.Bold("GC CPU: the collector's processor time, of the whole") + "\n" +
                    Table(ByProcess(p), p, false, o);
  if (limit == 0) return out;
  std::vector<Row> rows;
  // So many neighbours of a process become one row.
  const size_t each = (p.gc_cpu().size() + limit - 1) / std::max<size_t>(limit, 1);
  size_t in_row = 0;
  for (const Row& r : p.gc_cpu()) {
    if (!rows.empty() && rows.back().process == r.process && in_row < each) {
      rows.back() += r;
      ++in_row;
    } else {
      rows.push_back(r);
      in_row = 1;
    }
  }
  return out + "\n" + o.style.Bold("Over time") + "\n" + Table(rows, p, true, o);
}

}  // namespace clrscope::report
