// SPDX-License-Identifier: Apache-2.0
#include "report/text/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "report/text/cells.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"
#include "report/text/text_table.h"
#include "report/text/wrap.h"

namespace clrscope::report {
namespace {

using profile::Profile;

std::string Duration(double ns) { return ns > 0 ? HumanTime(ns / 1e9) : ""; }
std::string Number(double n) {
  return n > 0 ? Thousands(static_cast<uint64_t>(std::llround(n))) : "";
}

bool AnyRecorded(const Profile& p, profile::Measure m) {
  return std::any_of(p.processes.begin(), p.processes.end(), [m](const profile::Process& process) {
    return process.measures == 0 || process.Recorded(m);
  });
}

}  // namespace

std::string RequestsText(const RequestTable& table, const Profile& p, const TextOptions& o) {
  const bool bytes =
      p.figures.front().by_request() && AnyRecorded(p, profile::Measure::kAllocations);
  const bool wide = o.width >= 100;
  using Fit = TextColumn::Fit;
  std::vector<TextColumn> columns = {
      {"", Align::kLeft},           {"Count", Align::kRight}, {"Errors", Align::kRight},
      {"p50", Align::kRight},       {"p95", Align::kRight},   {"Bytes", Align::kRight},
      {"95 %", Align::kRight},      {"Each", Align::kRight},  {"Thrown", Align::kRight},
      {"Lock wait", Align::kRight}, {"GC", Align::kRight}};
  if (p.processes.size() > 1) columns.push_back({"Process", Align::kLeft, Fit::kMiddle});
  columns.push_back({"Request", Align::kLeft, Fit::kName});
  TextTable text(columns);
  for (const RequestRow& r : table.rows) {
    const profile::Estimate& e = r.allocated;
    const bool few = bytes && IsFew(p, e) && e.samples > 0;
    std::vector<std::string> cells = {
        few ? "~" : "",
        r.is_route ? Thousands(static_cast<uint64_t>(std::llround(r.count))) : "",
        Number(r.facts.failed),
        Duration(r.durations.At(0.5)),
        Duration(r.durations.At(0.95)),
        !bytes           ? ""
        : e.samples == 0 ? "-"
                         : HumanBytes(e.amount),
        !bytes || e.samples == 0 || !wide ? "" : AmountError(p, e),
        bytes && r.is_route && r.count > 0 && e.samples > 0 ? HumanBytes(e.amount / r.count) : "",
        Number(r.exceptions),
        Duration(r.lock_wait_ns),
        wide ? Duration(r.facts.gc_caused_ns) : ""};
    if (p.processes.size() > 1) cells.push_back(Printable(p.str(p.processes[r.process].name)));
    cells.push_back(Printable(r.route));
    text.Add(std::move(cells), few);
  }
  std::string out = o.style.Bold("Requests: what each route cost") + "\n";
  out += text.Render(o.width, o.style);
  if (table.all_rows > table.rows.size())
    out +=
        fmt::format("… {} more rows: -n {}\n", table.all_rows - table.rows.size(), table.all_rows);
  double unended = 0;
  for (const RequestRow& r : table.rows) unended += r.facts.unended;
  if (unended > 0)
    out += Wrap(fmt::format("{} had not ended when the recording did: they are in no count",
                            Number(unended)),
                0, 0, o.width);
  return out;
}

std::string SlowestText(const Profile& p, size_t limit, const TextOptions& o) {
  using Fit = TextColumn::Fit;
  std::vector<TextColumn> columns = {{"", Align::kLeft},
                                     {"At", Align::kRight},
                                     {"Took", Align::kRight},
                                     {"Bytes", Align::kRight},
                                     {"Thrown", Align::kRight},
                                     {"Lock wait", Align::kRight},
                                     {"GC", Align::kRight},
                                     {"Request", Align::kLeft, Fit::kName},
                                     {"Path", Align::kLeft, Fit::kMiddle}};
  TextTable text(columns);
  const std::vector<profile::SlowRequestRow>& rows = p.requests.slowest;
  for (size_t i = 0; i < std::min(limit, rows.size()); ++i) {
    const profile::SlowRequestRow& r = rows[i];
    text.Add({r.finished ? "" : "…", ClockText(static_cast<double>(r.start_ns) / 1e9),
              Duration(static_cast<double>(r.duration_ns)),
              r.samples == 0 ? "" : HumanBytes(r.bytes), Number(static_cast<double>(r.exceptions)),
              Duration(static_cast<double>(r.lock_wait_ns)),
              Duration(static_cast<double>(r.gc_waited_ns)), Printable(p.str(r.route)),
              Printable(p.str(r.path))});
  }
  std::string out = o.style.Bold("The slowest requests") + "\n";
  if (rows.empty()) return out + "None has ended yet.\n";
  out += text.Render(o.width, o.style);
  if (std::any_of(rows.begin(), rows.end(), [](const auto& r) { return !r.finished; }))
    out += "… had not ended when the recording did\n";
  return out;
}

}  // namespace clrscope::report
