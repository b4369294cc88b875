// SPDX-License-Identifier: Apache-2.0
#include "cli/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "cli/humanize.h"
#include "cli/report_cells.h"
#include "cli/text_table.h"

namespace clrscope::cli {
namespace {

using profile::Estimate;
using profile::Profile;
using profile::SortBy;
using Fit = TextColumn::Fit;

// A column after the figures that names the row.
struct NameColumn {
  TextColumn column;
  std::function<std::string(const ReportRow&)> text;
};

double NumberOrZero(const Json& value) { return value.is_null() ? 0 : value.get<double>(); }

NameColumn Named(std::string title, std::string key, Fit fit = Fit::kName) {
  return {{std::move(title), Align::kLeft, fit},
          [key = std::move(key)](const ReportRow& r) { return Text(r.key.at(key)); }};
}

// Type ids, for names that two types of one process share.
NameColumn TypeIds(const ReportTable& table) {
  std::map<std::pair<uint32_t, std::string>, std::set<uint64_t>> ids;
  const auto name = [](const ReportRow& r) {
    return std::make_pair(r.key.at("pid").get<uint32_t>(), r.key.at("type").get<std::string>());
  };
  for (const ReportRow& row : table.rows)
    ids[name(row)].insert(row.key.at("type_id").get<uint64_t>());
  return {{"Type id", Align::kRight, Fit::kFixed}, [ids, name](const ReportRow& r) {
            if (ids.at(name(r)).size() < 2) return std::string();
            return fmt::format("0x{:x}", r.key.at("type_id").get<uint64_t>());
          }};
}

std::string Bar(double part, double most, double width) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(most > 0 ? part / most * width * 8 + 0.5 : 0);
  std::string bar;
  for (size_t i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + kEighths[eighths % 8];
}

std::vector<NameColumn> NameColumns(const ReportTable& table, const Profile& p,
                                    const TextOptions& o) {
  std::vector<NameColumn> names;
  switch (table.view) {
    case View::kType:
      if (p.counted())
        names = {
            {{"Average", Align::kRight, Fit::kFixed},
             [](const ReportRow& r) { return HumanBytes(NumberOrZero(r.key.at("average_size"))); }},
            {{"LOH size", Align::kRight, Fit::kFixed},
             [](const ReportRow& r) {
               const double share = NumberOrZero(r.key.at("loh_size_share"));
               return share > 0 ? HumanShare(share, 1) : std::string();
             }},
            TypeIds(table),
            Named("Type", "type")};
      else
        names = {TypeIds(table), Named("Type", "type")};
      // The type's name needs the room more.
      if (!p.counted() && o.width >= 72)
        names.insert(names.begin(), Named("Heap", "kind", Fit::kFixed));
      break;
    case View::kSite:
      names = {TypeIds(table), Named("Type", "type"), Named("Allocated in", "method")};
      if (o.width >= 150) names.push_back(Named("Module", "module", Fit::kMiddle));
      break;
    case View::kMethod:
      names = {Named("Method", "method")};
      if (o.width >= 100) names.push_back(Named("Module", "module", Fit::kMiddle));
      break;
    case View::kKind:
      names = {Named("Heap", "kind", Fit::kFixed)};
      break;
    case View::kThread:
      names = {Named("Thread", "thread", Fit::kFixed)};
      break;
    case View::kAssembly: {
      NameColumn module = Named("Assembly", "module", Fit::kMiddle);
      module.text = [](const ReportRow& r) {
        return r.key.at("module").is_null() ? "[unknown]" : Text(r.key.at("module"));
      };
      names = {module};
      break;
    }
    case View::kProcess:
      names = {{{"Pid", Align::kRight, Fit::kFixed},
                [](const ReportRow& r) { return Text(r.key.at("pid")); }},
               Named("Process", "process", Fit::kMiddle)};
      break;
    case View::kTime: {
      double most = 0;
      for (const ReportRow& r : table.rows) most = std::max(most, SortValue(r.value, o.sort));
      names = {{{"", Align::kLeft, Fit::kFixed},
                [most, sort = o.sort, width = o.width < 100 ? 12.0 : 24.0](const ReportRow& r) {
                  return Bar(SortValue(r.value, sort), most, width);
                }}};
      break;
    }
    case View::kAge:
      names = {{{"Age", Align::kLeft, Fit::kFixed}, [](const ReportRow& r) {
                  const std::string from = HumanAge(r.key.at("age_from_s").get<uint64_t>());
                  const Json& to = r.key.at("age_to_s");
                  return to.is_null() ? fmt::format("{} and more", from)
                                      : fmt::format("{} – {}", from, HumanAge(to.get<uint64_t>()));
                }}};
      break;
    case View::kGeneration:
      names = {Named("Generation", "generation", Fit::kFixed)};
      break;
    default:
      break;
  }
  const bool has_process =
      table.view == View::kType || table.view == View::kSite || table.view == View::kThread;
  if (has_process && p.processes.size() > 1)
    names.insert(names.begin(), {{"Process", Align::kLeft, Fit::kMiddle}, [](const ReportRow& r) {
                                   return fmt::format("{} ({})", Text(r.key.at("process")),
                                                      Text(r.key.at("pid")));
                                 }});
  return names;
}

std::string Title(const ReportTable& table, const Profile& p, const TextOptions& o) {
  const std::string where =
      o.framework ? "the allocating method" : "the first method outside the framework";
  switch (table.view) {
    case View::kType:
      return p.counted() ? fmt::format("Types by {}", o.sort == SortBy::kObjects   ? "count"
                                                      : o.sort == SortBy::kSamples ? "events"
                                                                                   : "bytes")
                         : "Types";
    case View::kSite:
      return fmt::format("Sites: what {}, and {}",
                         p.shows == profile::Shows::kLive ? "lives" : "is allocated", where);
    case View::kMethod:
      return "Methods: self is allocated by the method itself, total also by what it calls";
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
    case View::kGeneration:
      return "Generations: where the objects are now";
    default:
      return "Stacks";
  }
}

std::string MethodsText(const ReportTable& table, const Profile& p, const TextOptions& o) {
  const double whole = SortValue(p.Total(), o.sort);
  const auto figure = [&](const Estimate& e) {
    return o.sort == SortBy::kBytes     ? BytesText(e)
           : o.sort == SortBy::kObjects ? ObjectsText(p, e)
                                        : Thousands(e.samples);
  };
  const auto error = [&](const Estimate& e) {
    return e.samples == 0               ? ""
           : o.sort == SortBy::kBytes   ? BytesError(p, e)
           : o.sort == SortBy::kObjects ? ObjectsError(p, e, profile::HeapKind::kUnknown)
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
        row.self.samples == 0 ? "-" : figure(row.self),
        error(row.self),
        row.self.samples == 0 ? "" : HumanShare(SortValue(row.self, o.sort), whole),
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
  const bool objects = o.sort == SortBy::kObjects;
  const bool time = table.view == View::kTime;
  std::vector<TextColumn> columns = {{"", Align::kLeft}};
  if (time) columns.push_back({"From", Align::kRight});
  columns.push_back({objects ? "Objects" : "Bytes", Align::kRight});
  columns.push_back({"95 %", Align::kRight});
  columns.push_back(time ? TextColumn{"Rate", Align::kRight} : TextColumn{"Share", Align::kRight});
  columns.push_back({objects ? "Bytes" : "Objects", Align::kRight});
  columns.push_back({p.counted() ? "Events" : "Samples", Align::kRight});
  const std::vector<NameColumn> names = NameColumns(table, p, o);
  for (const NameColumn& n : names) columns.push_back(n.column);
  TextTable text(columns);
  for (const ReportRow& row : table.rows) {
    const Estimate& e = row.value;
    const bool none = e.samples == 0;
    std::vector<std::string> cells = {row.partial ? "≥" : IsFew(p, e) && !none ? "~" : ""};
    if (time) cells.push_back(ClockText(row.key.at("start_s").get<double>()));
    cells.push_back(none ? "-" : objects ? ObjectsText(p, e) : BytesText(e));
    cells.push_back(none ? "" : objects ? ObjectsError(p, e, row.kind) : BytesError(p, e));
    if (time) {
      const Json& rate = row.key.at("bytes_per_s");
      cells.push_back(none || rate.is_null() ? "" : HumanBytes(rate.get<double>()) + "/s");
    } else {
      cells.push_back(HumanShare(SortValue(e, o.sort), whole));
    }
    // Two names a row need the room.
    const bool narrow = table.view == View::kSite && o.width < 100;
    cells.push_back(none || narrow ? "" : objects ? BytesText(e) : ObjectsText(p, e));
    cells.push_back(none ? "" : Thousands(e.samples));
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
         (table.view == View::kMethod ? MethodsText(table, p, o) : FiguresText(table, p, o)) +
         More(table);
}

}  // namespace clrscope::cli
