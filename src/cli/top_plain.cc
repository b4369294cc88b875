// SPDX-License-Identifier: Apache-2.0
#include "cli/top_plain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/humanize.h"
#include "cli/output.h"
#include "cli/text_table.h"

namespace clrscope::cli {
namespace {

using analysis::LiveBy;
using profile::Estimate;

std::string_view Name(LiveBy by) {
  return by == LiveBy::kType      ? "type"
         : by == LiveBy::kSite    ? "site"
         : by == LiveBy::kProcess ? "process"
                                  : "thread";
}

void AddRates(Json& json, const Estimate& e, double seconds, bool biased, bool objects) {
  json["samples"] = e.samples;
  const profile::Interval bytes = profile::BytesInterval(e), count = profile::ObjectsInterval(e);
  json["bytes_per_s"] = std::llround(e.bytes / seconds);
  json["bytes_per_s_low"] = biased ? Json() : Json(std::llround(bytes.low / seconds));
  json["bytes_per_s_high"] = biased ? Json() : Json(std::llround(bytes.high / seconds));
  json["objects_per_s"] = objects ? Json(std::llround(e.objects / seconds)) : Json();
  json["objects_per_s_low"] = biased ? Json() : Json(std::llround(count.low / seconds));
  json["objects_per_s_high"] = biased ? Json() : Json(std::llround(count.high / seconds));
}

}  // namespace

std::string TopJsonLine(const TopModel& m, size_t limit) {
  const capture::LiveView& view = m.view();
  const auto& tables = view.tables();
  const auto seconds = static_cast<double>(m.covered());
  const bool objects = tables.objects_known();
  Json line{{"schema_version", 1},
            {"time_s", static_cast<double>(view.now_ns()) / 1e9},
            {"window_s", m.covered()}};
  const bool biased = std::any_of(view.processes().begin(), view.processes().end(),
                                  [](const auto& p) { return p.biased; });
  AddRates(line["totals"], m.window(), seconds, biased, objects);
  line["totals"]["bytes"] = std::llround(tables.everything().total.bytes);
  Json& processes = line["processes"] = Json::array();
  for (size_t i = 0; i < view.processes().size(); ++i) {
    const auto& known = tables.processes()[i];
    const auto& p = view.processes()[i];
    Json heap = Json::array();
    for (const int64_t size : p.last_gc.size_after) heap.push_back(size < 0 ? Json() : Json(size));
    processes.push_back({{"pid", known.pid},
                         {"name", tables.str(known.name)},
                         {"ended", known.ended},
                         {"biased", p.biased},
                         {"samples", p.samples},
                         {"dropped", p.dropped},
                         {"collections", p.collections},
                         {"pauses", p.pauses},
                         {"pause_s", static_cast<double>(p.pause_ns) / 1e9},
                         {"heap_bytes_after_last_gc", heap}});
  }
  line["by"] = Name(m.by);
  Json& rows = line["rows"] = Json::array();
  for (size_t i = 0; i < std::min(limit, m.rows().size()); ++i) {
    const TopRow& r = m.rows()[i];
    Json row{{std::string(Name(m.by) == "site" ? "type" : Name(m.by)), r.name}};
    if (m.by == LiveBy::kSite) row["method"] = r.method;
    if (!r.process.empty()) row["process"] = r.process;
    AddRates(row, r.window, seconds, r.biased, objects);
    row["bytes"] = std::llround(r.total.bytes);
    row["biased"] = r.biased;
    rows.push_back(std::move(row));
  }
  return Dump(line) + "\n";
}

std::string TopTable(const TopModel& m, size_t limit, size_t width) {
  const auto seconds = static_cast<double>(m.covered());
  std::string out = fmt::format("{}  {}/s  total {}\n",
                                HumanDuration(static_cast<double>(m.view().now_ns()) / 1e9),
                                HumanBytes(m.window().bytes / seconds),
                                HumanBytes(m.view().tables().everything().total.bytes));
  TextTable table({{"Bytes/s", Align::kRight},
                   {"95 %"},
                   {"Objects/s", Align::kRight},
                   {"Share", Align::kRight},
                   {"Total", Align::kRight},
                   {"Process", Align::kLeft, TextColumn::Fit::kMiddle},
                   {m.by == LiveBy::kSite ? "Type" : "Name", Align::kLeft, TextColumn::Fit::kName},
                   {"Allocated in", Align::kLeft, TextColumn::Fit::kName}});
  for (size_t i = 0; i < std::min(limit, m.rows().size()); ++i) {
    const TopRow& r = m.rows()[i];
    const profile::Interval window = profile::BytesInterval(r.window);
    const std::string error =
        r.biased                ? "~"
        : r.window.samples == 0 ? ""
                                : HumanBytesInterval(r.window.bytes / seconds,
                                                     {window.low / seconds, window.high / seconds});
    table.Add({HumanBytes(r.window.bytes / seconds), error,
               m.view().tables().objects_known() ? HumanCount(r.window.objects / seconds) : "",
               HumanShare(r.window.bytes, m.window().bytes), HumanBytes(r.total.bytes), r.process,
               r.name, r.method});
  }
  return out + (table.empty() ? "nothing sampled yet\n" : table.Render(width, Style())) + "\n";
}

}  // namespace clrscope::cli
