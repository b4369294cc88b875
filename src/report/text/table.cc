// SPDX-License-Identifier: Apache-2.0
#include "report/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "report/text/cells.h"
#include "report/text/humanize.h"
#include "report/text/name_columns.h"
#include "report/text/text_table.h"

namespace clrscope::report {
namespace {

using profile::Estimate;
using profile::Profile;
using profile::SortBy;
std::string Title(const ReportTable& table, const Profile& p, const TextOptions& o) {
  const std::string where = o.framework ? fmt::format("the {} method", p.shown().spec().doing)
                                        : "the first method outside the framework";
  switch (table.view) {
    case View::kType:
      return p.counted() ? fmt::format("Types by {}", o.sort == SortBy::kCount     ? "count"
                                                      : o.sort == SortBy::kSamples ? "events"
                                                                                   : "bytes")
                         : "Types";
    case View::kSite:
      return fmt::format("Sites: what {}, and {}", p.shown().spec().done, where);
    case View::kMethod:
      return p.shown().spec().heaps
                 ? "Methods: self is allocated by the method itself, total also by what it calls"
                 : fmt::format("Methods: self is of the {} method, total also of who calls it",
                               p.shown().spec().doing);
    case View::kLine:
      return fmt::format("Lines: self is of {}, total also of what it calls", where);
    case View::kKind:
      return "Heaps: small, large (LOH) and pinned (POH) objects";
    case View::kThread:
      return "Threads";
    case View::kAssembly:
      return fmt::format("Assemblies of {}", where);
    case View::kProcess:
      return "Processes";
    case View::kTime:
      return "Time";
    case View::kAge:
      return "Ages: since the objects were allocated";
    case View::kRequest:
      return "Requests: what lives of what each route allocated";
    case View::kOwner:
      return "Threads that held the locks, and the method that most waits saw each in";
    case View::kMessage:
      return "Messages of what was thrown";
    case View::kState:
      return "States: what the threads did";
    case View::kGeneration:
      return "Generations: where the objects are now";
    default:
      return "Stacks";
  }
}

std::string MethodsText(const ReportTable& table, const Profile& p, const TextOptions& o) {
  const double whole = SortValue(p.Total(), o.sort);
  const auto figure = [&](const Estimate& e) {
    return o.sort == SortBy::kAmount  ? AmountText(p, e)
           : o.sort == SortBy::kCount ? CountText(p, e)
                                      : Thousands(e.samples);
  };
  const auto error = [&](const Estimate& e) {
    return e.none()                    ? ""
           : o.sort == SortBy::kAmount ? AmountError(p, e)
           : o.sort == SortBy::kCount  ? CountError(p, e, profile::HeapKind::kUnknown)
                                       : "";
  };
  std::vector<TextColumn> columns = {{"", Align::kLeft},       {"Self", Align::kRight},
                                     {"95 %", Align::kRight},  {"", Align::kRight},
                                     {"Total", Align::kRight}, {"95 %", Align::kRight},
                                     {"", Align::kRight}};
  if (o.width < 100) columns[5].title.clear();
  const std::vector<NameColumn> names = NameColumns(table, p, o);
  for (const NameColumn& n : names) columns.push_back(n.column);
  TextTable text(columns);
  for (const ReportRow& row : table.rows) {
    std::vector<std::string> cells = {
        IsFew(p, row.value) ? "~" : "",
        row.self.none() ? "-" : figure(row.self),
        error(row.self),
        row.self.none() ? "" : HumanShare(SortValue(row.self, o.sort), whole),
        figure(row.value),
        o.width < 100 ? "" : error(row.value),
        HumanShare(SortValue(row.value, o.sort), whole)};
    for (const NameColumn& n : names) cells.push_back(n.text(row));
    text.Add(std::move(cells), IsFew(p, row.value));
  }
  return text.Render(o.width, o.style);
}

std::string FiguresText(const ReportTable& table, const Profile& p, const TextOptions& o) {
  const double whole = SortValue(p.Total(), o.sort);
  const bool objects = o.sort == SortBy::kCount;
  const bool time = table.view == View::kTime;
  std::vector<TextColumn> columns = {{"", Align::kLeft}};
  if (time) columns.push_back({"From", Align::kRight});
  const profile::MeasureSpec& spec = p.shown().spec();
  const bool events = p.shown().events();
  columns.push_back({std::string((objects ? spec.count : spec.amount).heading), Align::kRight});
  columns.push_back({"95 %", Align::kRight});
  columns.push_back(time ? TextColumn{"Rate", Align::kRight} : TextColumn{"Share", Align::kRight});
  columns.push_back({std::string((objects ? spec.amount : spec.count).heading), Align::kRight});
  columns.push_back({p.counted() ? "Events" : "Samples", Align::kRight});
  const std::vector<NameColumn> names = NameColumns(table, p, o);
  for (const NameColumn& n : names) columns.push_back(n.column);
  TextTable text(columns);
  for (const ReportRow& row : table.rows) {
    const Estimate& e = row.value;
    const bool none = e.none();
    std::vector<std::string> cells = {row.partial ? "≥" : IsFew(p, e) && !none ? "~" : ""};
    if (time) cells.push_back(ClockText(row.key.at("start_s").get<double>()));
    cells.push_back(none ? "-" : objects ? CountText(p, e) : AmountText(p, e));
    cells.push_back(none ? "" : objects ? CountError(p, e, row.kind) : AmountError(p, e));
    if (time) {
      const profile::Quantity& first = spec.amount_first ? spec.amount : spec.count;
      const Json& rate = row.key.at(fmt::format("{}_per_s", first.name));
      cells.push_back(
          none || rate.is_null() ? "" : QuantityText(first.unit, rate.get<double>(), false) + "/s");
    } else {
      cells.push_back(HumanShare(SortValue(e, o.sort), whole));
    }
    // Two names a row need the room.
    const bool narrow = table.view == View::kSite && o.width < 100;
    cells.push_back(none || (narrow && !events) ? ""
                    : objects                   ? AmountText(p, e)
                                                : CountText(p, e));
    cells.push_back(none || events ? "" : Thousands(e.samples));
    for (const NameColumn& n : names) cells.push_back(n.text(row));
    text.Add(std::move(cells), IsFew(p, e));
  }
  return text.Render(o.width, o.style);
}

}  // namespace

bool AnyFew(const ReportTable& table, const Profile& p) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&p](const ReportRow& r) { return r.value.samples > 0 && IsFew(p, r.value); });
}

std::string TableText(const ReportTable& table, const Profile& p, const TextOptions& o) {
  return o.style.Bold(Title(table, p, o)) + "\n" +
         (table.view == View::kMethod || table.view == View::kLine ? MethodsText(table, p, o)
                                                                   : FiguresText(table, p, o)) +
         More(table);
}

}  // namespace clrscope::report
