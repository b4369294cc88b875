// SPDX-License-Identifier: Apache-2.0
#include "report/text/name_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "report/text/cells.h"
#include "report/text/humanize.h"

namespace clrscope::report {
namespace {

using profile::Profile;
using Fit = TextColumn::Fit;

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

std::vector<NameColumn> OfTypes(const ReportTable& table, const Profile& p, const TextOptions& o) {
  if (p.counted())
    return {{{"Average", Align::kRight, Fit::kFixed},
             [](const ReportRow& r) { return HumanBytes(NumberOrZero(r.key.at("average_size"))); }},
            {{"LOH size", Align::kRight, Fit::kFixed},
             [](const ReportRow& r) {
               const double share = NumberOrZero(r.key.at("loh_size_share"));
               return share > 0 ? HumanShare(share, 1) : std::string();
             }},
            TypeIds(table),
            Named("Type", "type")};
  std::vector<NameColumn> names = {TypeIds(table), Named("Type", "type")};
  // The type's name needs the room more.
  if (p.shown().spec().heaps && o.width >= 72)
    names.insert(names.begin(), Named("Heap", "kind", Fit::kFixed));
  return names;
}

std::vector<NameColumn> OfSites(const ReportTable& table, const Profile& p, const TextOptions& o) {
  std::vector<NameColumn> names;
  if (p.shown().spec().typed) names = {TypeIds(table), Named("Type", "type")};
  names.push_back(Named(std::string(p.shown().spec().place), "method"));
  if (o.width >= 150) names.push_back(Named("Module", "module", Fit::kMiddle));
  return names;
}

std::vector<NameColumn> OfMethods(const TextOptions& o) {
  std::vector<NameColumn> names = {Named("Method", "method")};
  if (o.width >= 100) names.push_back(Named("Module", "module", Fit::kMiddle));
  return names;
}

std::vector<NameColumn> OfLines(const TextOptions& o) {
  NameColumn line{{"Line", Align::kLeft, Fit::kMiddle},
                  [](const ReportRow& r) { return LineText(r.key); }};
  std::vector<NameColumn> names = {std::move(line), Named("Method", "method")};
  if (o.width >= 150) names.push_back(Named("Module", "module", Fit::kMiddle));
  return names;
}

NameColumn Assembly() {
  NameColumn module = Named("Assembly", "module", Fit::kMiddle);
  module.text = [](const ReportRow& r) {
    return r.key.at("module").is_null() ? "[unknown]" : Text(r.key.at("module"));
  };
  return module;
}

NameColumn Pid() {
  return {{"Pid", Align::kRight, Fit::kFixed},
          [](const ReportRow& r) { return Text(r.key.at("pid")); }};
}

NameColumn ProcessOfRow() {
  return {{"Process", Align::kLeft, Fit::kMiddle}, [](const ReportRow& r) {
            return fmt::format("{} ({})", Text(r.key.at("process")), Text(r.key.at("pid")));
          }};
}

NameColumn Bars(const ReportTable& table, const TextOptions& o) {
  double most = 0;
  for (const ReportRow& r : table.rows) most = std::max(most, SortValue(r.value, o.sort));
  return {{"", Align::kLeft, Fit::kFixed},
          [most, sort = o.sort, width = o.width < 100 ? 12.0 : 24.0](const ReportRow& r) {
            return Bar(SortValue(r.value, sort), most, width);
          }};
}

NameColumn Age() {
  return {{"Age", Align::kLeft, Fit::kFixed}, [](const ReportRow& r) {
            const std::string from = HumanAge(r.key.at("age_from_s").get<uint64_t>());
            const Json& to = r.key.at("age_to_s");
            return to.is_null() ? fmt::format("{} and more", from)
                                : fmt::format("{} – {}", from, HumanAge(to.get<uint64_t>()));
          }};
}

std::vector<NameColumn> OwnerColumns(const ReportTable& table) {
  std::vector<NameColumn> names = {{{"Held by", Align::kLeft, Fit::kFixed},
                                    [](const ReportRow& r) {
                                      const Json& owner = r.key.at("owner");
                                      return owner.is_null() ? std::string("nobody any more")
                                                             : Text(owner);
                                    }},
                                   Named("Name", "name")};
  const auto told = [](const ReportRow& r) { return !r.key.at("holding").is_null(); };
  if (std::none_of(table.rows.begin(), table.rows.end(), told)) return names;
  const auto most = [told](const ReportRow& r, const char* what) {
    return told(r) ? r.key.at("holding").front().at(what) : Json();
  };
  names.push_back({{"Seen", Align::kRight, Fit::kFixed}, [most](const ReportRow& r) {
                     const Json count = most(r, "count");
                     return count.is_null() ? std::string() : Thousands(count.get<uint64_t>());
                   }});
  names.push_back({{"in", Align::kLeft, Fit::kName},
                   [most](const ReportRow& r) { return Text(most(r, "method")); }});
  return names;
}

std::vector<NameColumn> OfView(const ReportTable& table, const Profile& p, const TextOptions& o) {
  switch (table.view) {
    case View::kType:
      return OfTypes(table, p, o);
    case View::kSite:
      return OfSites(table, p, o);
    case View::kMethod:
      return OfMethods(o);
    case View::kLine:
      return OfLines(o);
    case View::kKind:
      return {Named("Heap", "kind", Fit::kFixed)};
    case View::kThread:
      return {Named("Thread", "thread", Fit::kFixed), Named("Name", "name")};
    case View::kAssembly:
      return {Assembly()};
    case View::kProcess:
      return {Pid(), Named("Process", "process", Fit::kMiddle)};
    case View::kTime:
      return {Bars(table, o)};
    case View::kAge:
      return {Age()};
    case View::kOwner:
      return OwnerColumns(table);
    case View::kMessage:
      return {Named("Type", "type"), Named("Message", "message")};
    case View::kState:
      return {Named("State", "state", Fit::kFixed)};
    case View::kRequest:
      return {Named("Request", "request", Fit::kMiddle)};
    case View::kGeneration:
      return {Named("Generation", "generation", Fit::kFixed)};
    default:
      return {};
  }
}

}  // namespace

std::vector<NameColumn> NameColumns(const ReportTable& table, const Profile& p,
                                    const TextOptions& o) {
  std::vector<NameColumn> names = OfView(table, p, o);
  const bool has_process = table.view == View::kType || table.view == View::kSite ||
                           table.view == View::kThread || table.view == View::kRequest;
  if (has_process && p.processes.size() > 1) names.insert(names.begin(), ProcessOfRow());
  return names;
}

}  // namespace clrscope::report
