// SPDX-License-Identifier: Apache-2.0
#include "cli/report_cells.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/humanize.h"

namespace clrscope::cli {

using profile::Estimate;
using profile::Profile;

std::string BytesText(const Estimate& e) { return HumanBytes(e.bytes); }
std::string ObjectsText(const Profile& p, const Estimate& e) {
  if (!p.objects_known) return "";
  return p.counted() ? Thousands(static_cast<uint64_t>(std::llround(e.objects)))
                     : HumanCount(e.objects);
}
std::string BytesError(const Profile& p, const Estimate& e) {
  return p.has_interval(e) ? HumanBytesInterval(e.bytes, profile::BytesInterval(e)) : "";
}
std::string ObjectsError(const Profile& p, const Estimate& e, profile::HeapKind kind) {
  return p.has_interval(e) ? HumanCountInterval(e.objects, profile::ObjectsInterval(e, kind)) : "";
}

std::string Text(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string ClockText(double s) {
  const auto whole = static_cast<int64_t>(s);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string More(const ReportTable& table) {
  if (table.rows.size() >= table.all_rows) return "";
  const size_t more = table.all_rows - table.rows.size();
  return fmt::format("… {} more row{}: -n {}\n", Thousands(more), more == 1 ? "" : "s",
                     table.all_rows);
}

}  // namespace clrscope::cli
