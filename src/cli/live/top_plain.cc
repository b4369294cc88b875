// SPDX-License-Identifier: Apache-2.0
#include "cli/live/top_plain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal/output.h"
#include "report/text/cells.h"
#include "report/text/humanize.h"
#include "report/text/text_table.h"

namespace clrscope::cli {
namespace {

using analysis::LiveBy;
using profile::Estimate;

std::string_view Name(LiveBy by) {
  return by == LiveBy::kType      ? "type"
         : by == LiveBy::kSite    ? "site"
         : by == LiveBy::kProcess ? "process"
         : by == LiveBy::kRequest ? "request"
                                  : "thread";
}

// Below 0: unknown.
report::Json Known(double v) { return v < 0 ? report::Json() : report::Json(v); }

// Each quantity's rate; of samples with its 95 % interval.
void AddRates(report::Json& json, const TopModel& m, const Estimate& e, double seconds,
              bool biased) {
  const profile::MeasureSpec& spec = m.spec();
  const auto add = [&](const profile::Quantity& q, bool known, double value,
                       const profile::Interval& interval) {
    const auto rate = [&](double v) {
      return m.sampled() ? report::Json(std::llround(v / seconds))
                         : report::Json(std::round(v / seconds * 1e3) / 1e3);
    };
    const std::string name = fmt::format("{}_per_s", q.name);
    json[name] = known ? rate(value) : report::Json();
    if (!m.sampled()) return;
    json[name + "_low"] = biased ? report::Json() : rate(interval.low);
    json[name + "_high"] = biased ? report::Json() : rate(interval.high);
  };
  if (m.sampled()) {
    json["samples"] = e.samples;
    add(spec.amount, true, e.amount, profile::AmountInterval(e));
    add(spec.count, m.tables().objects_known(), e.count, profile::CountInterval(e));
  } else {
    add(spec.count, true, e.count, {});
    add(spec.amount, true, e.amount, {});
  }
}

// Since the start.
void AddTotal(report::Json& json, const TopModel& m, const Estimate& e) {
  json[std::string(m.first().name)] = std::llround(m.First(e));
  if (!m.sampled()) json[std::string(m.other().name)] = std::llround(m.Other(e));
}

}  // namespace

std::string TopJsonLine(const TopModel& m, size_t limit) {
  const capture::LiveView& view = m.view();
  const auto& tables = m.tables();
  const auto seconds = static_cast<double>(m.covered());
  report::Json line{{"schema_version", 1},
                    {"time_s", static_cast<double>(view.now_ns()) / 1e9},
                    {"window_s", m.covered()},
                    {"measure", m.spec().name}};
  const bool biased = std::any_of(view.processes().begin(), view.processes().end(),
                                  [](const auto& p) { return p.biased; });
  AddRates(line["totals"], m, m.window(), seconds, biased);
  AddTotal(line["totals"], m, tables.everything().total);
  report::Json& processes = line["processes"] = report::Json::array();
  for (size_t i = 0; i < view.processes().size(); ++i) {
    const auto& known = tables.processes()[i];
    const auto& p = view.processes()[i];
    report::Json heap = report::Json::array();
    for (const int64_t size : p.last_gc.size_after)
      heap.push_back(size < 0 ? report::Json() : report::Json(size));
    processes.push_back({{"pid", known.pid},
                         {"name", tables.str(known.name)},
                         {"ended", known.ended},
                         {"biased", p.biased},
                         {"samples", p.samples},
                         {"dropped", p.dropped},
                         {"collections", p.collections},
                         {"pauses", p.pauses},
                         {"pause_s", static_cast<double>(p.pause_ns) / 1e9},
                         {"cpu_s", Known(p.cpu_s)},
                         {"pool_threads", Known(p.pool_threads)},
                         {"pool_queue", Known(p.pool_queue)},
                         {"heap_bytes_after_last_gc", heap}});
  }
  line["by"] = Name(m.by);
  report::Json& rows = line["rows"] = report::Json::array();
  for (size_t i = 0; i < std::min(limit, m.rows().size()); ++i) {
    const TopRow& r = m.rows()[i];
    const bool site = m.by == LiveBy::kSite;
    report::Json row{{std::string(!site            ? Name(m.by)
                                  : m.spec().typed ? "type"
                                                   : "method"),
                      r.name}};
    if (site && m.spec().typed) row["method"] = r.method;
    if (m.by == LiveBy::kThread) {
      row["thread"] = fmt::format("thread {}", r.thread);
      row["name"] = r.thread_name.empty() ? report::Json() : report::Json(r.thread_name);
    }
    if (!r.process.empty()) row["process"] = r.process;
    AddRates(row, m, r.window, seconds, r.biased);
    AddTotal(row, m, r.total);
    if (m.sampled()) row["biased"] = r.biased;
    rows.push_back(std::move(row));
  }
  return report::Dump(line) + "\n";
}

std::string TopTable(const TopModel& m, size_t limit, size_t width) {
  const auto seconds = static_cast<double>(m.covered());
  const profile::MeasureSpec& spec = m.spec();
  const auto first = [&](double v) { return report::QuantityText(m.first().unit, v, false); };
  const auto other = [&](double v) { return report::QuantityText(m.other().unit, v, false); };
  std::string out = fmt::format(
      "{}  {}{}/s  total {}\n", report::HumanDuration(static_cast<double>(m.view().now_ns()) / 1e9),
      m.sampled() ? "" : fmt::format("{}: ", spec.title), first(m.First(m.window()) / seconds),
      first(m.First(m.tables().everything().total)));
  report::TextTable table(
      {{fmt::format("{}/s", m.first().heading), report::Align::kRight},
       {"95 %"},
       {fmt::format("{}/s", m.other().heading), report::Align::kRight},
       {"Share", report::Align::kRight},
       {"Total", report::Align::kRight},
       {"Process", report::Align::kLeft, report::TextColumn::Fit::kMiddle},
       {m.by != LiveBy::kSite ? "Name"
        : spec.typed          ? "Type"
                              : std::string(spec.place),
        report::Align::kLeft, report::TextColumn::Fit::kName},
       {std::string(spec.place), report::Align::kLeft, report::TextColumn::Fit::kName}});
  for (size_t i = 0; i < std::min(limit, m.rows().size()); ++i) {
    const TopRow& r = m.rows()[i];
    const profile::Interval window = profile::AmountInterval(r.window);
    const std::string error =
        !m.sampled() ? ""
        : r.biased   ? "~"
        : r.window.samples == 0
            ? ""
            : report::HumanBytesInterval(r.window.amount / seconds,
                                         {window.low / seconds, window.high / seconds});
    table.Add({first(m.First(r.window) / seconds), error,
               m.tables().objects_known() ? other(m.Other(r.window) / seconds) : "",
               report::HumanShare(m.First(r.window), m.First(m.window())), first(m.First(r.total)),
               r.process, r.name, r.method});
  }
  const char* nothing = m.sampled() ? "nothing sampled yet\n" : "nothing yet\n";
  return out + (table.empty() ? nothing : table.Render(width, report::Style())) + "\n";
}

}  // namespace clrscope::cli
