// SPDX-License-Identifier: Apache-2.0
#include "report/text/cells.h"

#include <fmt/format.h>

#include <cmath>

#include "base/file_name.h"
#include "profile/estimate/bounds.h"
#include "report/text/humanize.h"

namespace clrscope::report {

using profile::Estimate;
using profile::Profile;

std::string QuantityText(profile::Unit unit, double value, bool exact) {
  switch (unit) {
    case profile::Unit::kBytes:
      return HumanBytes(value);
    case profile::Unit::kNanoseconds:
      return HumanTime(value / 1e9);
    case profile::Unit::kNumber:
      break;
  }
  return exact ? Thousands(static_cast<uint64_t>(std::llround(value))) : HumanCount(value);
}

namespace {

// Everything together is as the counter says, however it is divided.
bool IsSure(const Estimate& e, double value, const profile::Interval& interval) {
  return e.windows.get() == nullptr || interval.low == interval.high || value == 0;
}

std::string ErrorText(double value, const profile::Interval& interval) {
  return interval.low == interval.high ? "" : HumanCountInterval(value, interval);
}

}  // namespace

std::string AmountText(const Profile& p, const Estimate& e) {
  const bool exact =
      p.shown().events() && IsSure(e, e.amount, profile::WindowedAmount(e, p.shown().unseen()));
  return QuantityText(p.shown().spec().amount.unit, e.amount, exact);
}
std::string CountText(const Profile& p, const Estimate& e) {
  if (!p.shown().counts_known) return "";
  const bool exact =
      p.counted() ||
      (p.shown().events() && IsSure(e, e.count, profile::WindowedCount(e, p.shown().unseen())));
  return QuantityText(p.shown().spec().count.unit, e.count, exact);
}
std::string AmountError(const Profile& p, const Estimate& e) {
  if (const profile::Figure& f = p.shown(); f.clocked())
    return HumanTimeInterval(e.amount, profile::ClockInterval(f, e));
  if (e.windows.get() != nullptr && p.shown().events())
    return ErrorText(e.amount, profile::WindowedAmount(e, p.shown().unseen()));
  if (!p.has_interval(e)) return "";
  return HumanBytesInterval(e.amount, profile::AmountInterval(e));
}
std::string CountError(const Profile& p, const Estimate& e, profile::HeapKind kind) {
  if (e.windows.get() != nullptr && p.shown().events())
    return ErrorText(e.count, profile::WindowedCount(e, p.shown().unseen()));
  if (!p.has_interval(e)) return "";
  return HumanCountInterval(e.count, profile::CountInterval(e, kind));
}

std::string Text(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string LineText(const Json& key) {
  if (key.at("line").is_null()) return {};
  const std::string path = Text(key.at("file"));
  return fmt::format("{}{}:{}", key.value("approximate", false) ? "≈ " : "", FileNameOf(path),
                     key.at("line").get<uint32_t>());
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

}  // namespace clrscope::report
