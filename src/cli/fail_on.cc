// SPDX-License-Identifier: Apache-2.0
#include "cli/fail_on.h"

#include <fmt/format.h>

#include <charconv>

#include "cli/parse.h"

namespace clrscope::cli {
namespace {

Error Bad(std::string_view text, std::string_view why) {
  return Error{ErrorCode::kUsage,
               fmt::format("--fail-on '{}': {}; write alloc_bytes>+5%, alloc_objects>1000000, "
                           "alloc_bytes>10MB or changed_rows>0",
                           text, why)};
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
  if (metric == "alloc_bytes") {
    out.what = FailOn::What::kBytes;
  } else if (metric == "alloc_objects") {
    out.what = FailOn::What::kObjects;
  } else if (metric == "changed_rows") {
    out.what = FailOn::What::kChangedRows;
  } else {
    return Bad(text, fmt::format("'{}' is no metric", metric));
  }
  bool negative = false;
  if (!limit.empty() && (limit[0] == '+' || limit[0] == '-')) {
    negative = limit[0] == '-';
    limit.remove_prefix(1);
  }
  if (limit.ends_with('%')) {
    limit.remove_suffix(1);
    out.relative = true;
  }
  if (out.relative && out.what == FailOn::What::kChangedRows)
    return Bad(text, "rows that changed are counted, not a share");
  const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), out.limit);
  if (error != std::errc() || end != limit.data() + limit.size()) {
    const Result<uint64_t> size = ParseSize(limit);
    if (out.relative || out.what != FailOn::What::kBytes || !size.ok())
      return Bad(text, "its limit is no number");
    out.limit = static_cast<double>(*size);
  }
  if (out.relative) out.limit /= 100;
  if (negative) out.limit = -out.limit;
  return out;
}

bool FailOn::Holds(const profile::Difference& total, size_t changed_rows) const {
  if (what == What::kChangedRows) {
    const auto rows = static_cast<double>(changed_rows);
    return above ? rows > limit : rows < limit;
  }
  if (total.p_value && !total.changed) return false;
  if (!relative) return above ? total.difference > limit : total.difference < limit;
  if (!total.ratio()) return above && total.difference > 0;  // there was nothing before
  return above ? *total.ratio() > limit : *total.ratio() < limit;
}

}  // namespace clrscope::cli
