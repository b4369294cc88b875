// SPDX-License-Identifier: Apache-2.0
#include "agent/host/options.h"

#include <charconv>

#include "base/units.h"

namespace clrscope::agent {
namespace {

constexpr int64_t kLongest = 7 * 86'400 * kSecond;

Error Wrong(std::string_view key, std::string_view value) {
  return {ErrorCode::kUsage,
          "CLRSCOPE_OPTS: " + std::string(key) + "=" + std::string(value) + " is not understood"};
}

bool ParseFlag(std::string_view value, bool& out) {
  if (value == "1" || value == "true" || value == "yes" || value == "on") return out = true;
  if (value != "0" && value != "false" && value != "no" && value != "off") return false;
  out = false;
  return true;
}

bool ParseNumber(std::string_view value, uint64_t& out, std::string_view* rest) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
  *rest = value.substr(static_cast<size_t>(end - value.data()));
  return error == std::errc{};
}

bool ParseSpan(std::string_view value, int64_t& out) {
  uint64_t n = 0;
  std::string_view unit;
  if (!ParseNumber(value, n, &unit)) return false;
  int64_t scale = 0;
  if (unit.empty() || unit == "s") scale = kSecond;
  if (unit == "ms") scale = 1'000'000;
  if (unit == "m") scale = 60 * kSecond;
  if (unit == "h") scale = 3600 * kSecond;
  if (scale == 0) return false;
  if (n > static_cast<uint64_t>(kLongest / scale)) return false;
  out = static_cast<int64_t>(n) * scale;
  return out >= kSecond / 10;
}

// "0.5", "1%": a part of one.
bool ParsePercent(std::string_view value, double& out) {
  constexpr double kLeast = 0.01, kMost = 50;
  if (value.ends_with('%')) value.remove_suffix(1);
  uint64_t whole = 0;
  std::string_view rest;
  if (!ParseNumber(value, whole, &rest)) return false;
  double percent = static_cast<double>(whole);
  if (!rest.empty() && rest.front() != '.') return false;
  double unit = 0.1;
  for (const char c : rest.substr(rest.empty() ? 0 : 1)) {
    if (c < '0' || c > '9') return false;
    percent += unit * (c - '0');
    unit /= 10;
  }
  constexpr double kDigits = 1e-9;
  if (percent < kLeast - kDigits || percent > kMost) return false;
  out = percent / 100;
  return true;
}

// nullptr: it is no key that is on or off.
bool* FlagOf(std::string_view key, Options& o) {
  if (key == "allocations") return &o.allocations;
  if (key == "live") return &o.live;
  if (key == "idle") return &o.idle;
  if (key == "exceptions") return &o.exceptions;
  if (key == "locks") return &o.locks;
  if (key == "waits") return &o.waits;
  if (key == "requests") return &o.requests;
  if (key == "lines") return &o.lines;
  if (key == "native") return &o.native;
  if (key == "owned") return &o.owned;
  if (key == "async") return &o.async;
  if (key == "selftest") return &o.selftest;
  if (key == "exact") return &o.exact;
  return nullptr;
}

void SetLabel(Options& o, std::string_view key, std::string_view value) {
  for (auto& [name, old] : o.labels) {
    if (name != key) continue;
    old = value;
    return;
  }
  o.labels.emplace_back(key, value);
}

}  // namespace

Result<Options> ParseOptions(std::string_view text, Options from) {
  Options o = std::move(from);
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view("1") : item.substr(equals + 1);
    bool ok = true;
    if (key == "every") {
      ok = ParseSpan(value, o.every_ns);
    } else if (bool* flag = FlagOf(key, o); flag != nullptr) {
      ok = ParseFlag(value, *flag);
    } else if (key == "walk") {
      ok = value == "snapshot" || value == "own";
      o.snapshots = value == "snapshot";
    } else if (key == "cap") {
      uint64_t n = 0;
      std::string_view rest;
      ok = ParseNumber(value, n, &rest) && rest.empty() && n >= 16 && n <= 1'000'000;
      o.cap = static_cast<uint32_t>(n);
    } else if (key == "max_overhead") {
      ok = ParsePercent(value, o.max_overhead);
    } else if (key == "output") {
      o.output = value;
    } else if (key.starts_with("label.") && key.size() > 6) {
      SetLabel(o, key.substr(6), value);
    } else {
      return Error{ErrorCode::kUsage, "CLRSCOPE_OPTS: there is no option " + std::string(key)};
    }
    if (!ok) return Wrong(key, value);
  }
  o.locks = o.locks || o.waits;
  o.allocations = o.allocations && !o.idle;
  o.live = o.live && o.allocations;
  if (o.max_overhead > 0 && o.exact)
    return Error{ErrorCode::kUsage,
                 "CLRSCOPE_OPTS: exact counts every object, whatever that takes: max_overhead does "
                 "not go with it"};
  if (!o.allocations && !o.exceptions && !o.locks && !o.idle)
    return Error{ErrorCode::kUsage, "CLRSCOPE_OPTS: there is nothing to measure"};
  return o;
}

Result<Options> ChangeOptions(std::string_view text, const Options& now) {
  ASSIGN_OR_RETURN(Options o, ParseOptions(text, now));
  const char* fixed = o.allocations != now.allocations     ? "whether allocations are sampled"
                      : o.idle != now.idle                 ? "idle"
                      : o.live != now.live                 ? "whether objects are followed"
                      : o.cap != now.cap                   ? "how many objects are followed"
                      : o.requests != now.requests         ? "whether requests are told apart"
                      : o.lines != now.lines               ? "whether addresses are told"
                      : o.native != now.native             ? "whether native code is told apart"
                      : o.max_overhead != now.max_overhead ? "how much it may take"
                      : o.exact != now.exact               ? "exact"
                      : o.owned != now.owned               ? "owned"
                      : o.async != now.async               ? "async"
                      : o.selftest != now.selftest         ? "selftest"
                      : o.snapshots != now.snapshots       ? "walk"
                                                           : nullptr;
  if (fixed != nullptr)
    return Error{ErrorCode::kRefused, std::string(fixed) + " cannot be changed while it is loaded"};
  return o;
}

}  // namespace clrscope::agent
