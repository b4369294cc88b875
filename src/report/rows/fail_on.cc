// SPDX-License-Identifier: Apache-2.0
#include "report/rows/fail_on.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "report/input/parse.h"

namespace clrscope::report {
namespace {

Error Bad(std::string_view text, std::string_view why) {
  return Error{ErrorCode::kUsage,
               fmt::format("--fail-on '{}': {}; write alloc_bytes>+5%, alloc_objects>1000000, "
                           "alloc_bytes>10MB, count>10, wait_ns>+5%, wait_ns>20ms or "
                           "changed_rows>0",
                           text, why)};
}

// "10MB", "20ms"
std::optional<double> LimitOf(std::string_view text, profile::Unit unit) {
  if (unit == profile::Unit::kBytes) {
    const Result<uint64_t> size = ParseSize(text);
    if (size.ok()) return static_cast<double>(*size);
  }
  if (unit == profile::Unit::kNanoseconds) {
    const Result<int64_t> ns = ParseDuration(text);
    if (ns.ok()) return static_cast<double>(*ns);
  }
  return std::nullopt;
}

}  // namespace

Result<FailOn> ParseFailOn(std::string_view text) {
  FailOn out;
  out.text = text;
  std::string squeezed;
  for (const char c : text)
    if (c != ' ') squeezed += c;
  const size_t op = squeezed.find_first_of("<>");
  if (op == std::string::npos) return Bad(text, "there is no > or < in it");
  const std::string_view all = squeezed;
  const std::string_view metric = all.substr(0, op);
  std::string_view limit = all.substr(op + 1);
  out.above = squeezed[op] == '>';
  constexpr std::string_view kAllocations = "alloc_";
  out.allocations = metric.starts_with(kAllocations);
  const std::string_view name = out.allocations ? metric.substr(kAllocations.size()) : metric;
  profile::Unit unit = profile::Unit::kNumber;
  for (const profile::MeasureSpec& measure : profile::kMeasureSpecs) {
    if (out.allocations && measure.id != profile::Measure::kAllocations) continue;
    for (const profile::Quantity* q : {&measure.count, &measure.amount})
      if (q->name == name) {
        out.quantity = name;
        unit = q->unit;
      }
  }
  if (out.quantity.empty() && metric != "changed_rows")
    return Bad(text, fmt::format("'{}' is no metric", metric));
  bool negative = false;
  if (!limit.empty() && (limit[0] == '+' || limit[0] == '-')) {
    negative = limit[0] == '-';
    limit.remove_prefix(1);
  }
  if (limit.ends_with('%')) {
    limit.remove_suffix(1);
    out.relative = true;
  }
  if (out.relative && out.changed_rows())
    return Bad(text, "rows that changed are counted, not a share");
  const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), out.limit);
  if (error != std::errc() || end != limit.data() + limit.size()) {
    const std::optional<double> value = LimitOf(limit, unit);
    if (out.relative || !value) return Bad(text, "its limit is no number");
    out.limit = *value;
  }
  if (out.relative) out.limit /= 100;
  if (negative) out.limit = -out.limit;
  return out;
}

Result<profile::Metric> FailOn::MetricOf(const profile::MeasureSpec& measure) const {
  const bool fits = !allocations || measure.id == profile::Measure::kAllocations;
  if (fits && quantity == measure.amount.name) return profile::Metric::kAmount;
  if (fits && quantity == measure.count.name) return profile::Metric::kCount;
  return Error{ErrorCode::kUsage,
               fmt::format("--fail-on '{}': {} have {} and {}", text, measure.title,
                           measure.count.name, measure.amount.name)};
}

bool FailOn::Holds(const profile::Difference& total, size_t changed) const {
  if (changed_rows()) {
    const auto rows = static_cast<double>(changed);
    return above ? rows > limit : rows < limit;
  }
  if (total.p_value && !total.changed) return false;
  if (!relative) return above ? total.difference > limit : total.difference < limit;
  if (!total.ratio()) return above && total.difference > 0;  // there was nothing before
  return above ? *total.ratio() > limit : *total.ratio() < limit;
}

}  // namespace clrscope::report
