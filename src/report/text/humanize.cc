// SPDX-License-Identifier: Apache-2.0
#include "report/text/humanize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace clrscope::report {
namespace {

constexpr const char* kByteUnits[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
constexpr const char* kCountUnits[] = {"", " k", " M", " G", " T"};

std::string ThreeDigits(double v) {
  if (v >= 99.95) return fmt::format("{:.0f}", v);
  return v >= 9.995 ? fmt::format("{:.1f}", v) : fmt::format("{:.2f}", v);
}

struct Scaled {
  double divisor;
  const char* unit;
};

// The unit in which `v` has at most three digits before its point; "1000 KiB" is never written.
Scaled Scale(double v, double step, std::span<const char* const> units) {
  double divisor = 1;
  size_t i = 0;
  while (i + 1 < units.size() && v / divisor >= 999.5) {
    divisor *= step;
    ++i;
  }
  return {divisor, units[i]};
}

Scaled ByteScale(double v) { return Scale(v, 1024, kByteUnits); }
Scaled TimeScale(double ns) {
  constexpr const char* kTimeUnits[] = {" ns", " µs", " ms", " s"};
  return Scale(ns, 1000, kTimeUnits);
}
Scaled CountScale(double v) { return v < 9999.5 ? Scaled{1, ""} : Scale(v, 1000, kCountUnits); }

std::string Number(double v, Scaled scale) {
  return scale.divisor == 1 ? fmt::format("{:.0f}", v) : ThreeDigits(v / scale.divisor);
}

// Two digits are enough for the ends of a wide interval.
std::string Rough(double v, Scaled scale) {
  v /= scale.divisor;
  return v < 9.95 && scale.divisor != 1 ? fmt::format("{:.1f}", v) : fmt::format("{:.0f}", v);
}

std::string HumanInterval(double value, profile::Interval interval, Scaled (*scale_of)(double)) {
  if (std::isinf(interval.high)) {
    const Scaled scale = scale_of(interval.low);
    return "≥" + Rough(interval.low, scale) + scale.unit;
  }
  const double half = std::max(value - interval.low, interval.high - value) / value;
  if (value > 0 && half < 0.01) return "±<1 %";
  if (value > 0 && half < 0.5) return fmt::format("±{:.0f} %", half * 100);
  const Scaled scale = scale_of(interval.high);
  std::string low = Rough(interval.low, scale);
  if (low == "0.0" && interval.low > 0) {  // ends that differ too much for one unit
    const Scaled own = scale_of(interval.low);
    low = Rough(interval.low, own) + own.unit;
  }
  return fmt::format("{}–{}{}", low, Rough(interval.high, scale), scale.unit);
}

}  // namespace

std::string HumanBytes(double bytes) {
  const Scaled scale = ByteScale(bytes);
  return Number(bytes, scale) + scale.unit;
}

std::string HumanCount(double count) {
  const Scaled scale = CountScale(count);
  return Number(count, scale) + scale.unit;
}

std::string HumanDuration(double s) {
  if (s < 0.9995) return fmt::format("{:.0f} ms", s * 1000);
  if (s < 59.95) return fmt::format("{:.1f} s", s);
  const auto whole = static_cast<int64_t>(std::llround(s));
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h {:02}m", whole / 3600, whole % 3600 / 60);
  return fmt::format("{}d {:02}h", whole / 86400, whole % 86400 / 3600);
}

std::string HumanTime(double seconds) {
  if (seconds >= 60) return HumanDuration(seconds);
  struct Scale {
    double unit;
    std::string_view name;
  };
  constexpr Scale kScales[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
  if (seconds <= 0) return "0";
  for (const Scale& s : kScales) {
    const double v = seconds / s.unit;
    if (v < 0.9995 && s.unit > 1e-9) continue;
    return fmt::format("{:.{}f} {}", v, v < 9.995 ? 2 : v < 99.95 ? 1 : 0, s.name);
  }
  return "0";
}

std::string HumanAge(uint64_t s) {
  if (s == 0 || s % 60 != 0) return fmt::format("{}s", s);
  if (s % 3600 != 0) return fmt::format("{}m", s / 60);
  if (s % 86400 != 0) return fmt::format("{}h", s / 3600);
  return fmt::format("{}d", s / 86400);
}

std::string HumanShare(double part, double whole) {
  if (!(whole > 0)) return "-";
  const double percent = part / whole * 100;
  if (percent > 0 && percent < 0.05) return "<0.1 %";
  return fmt::format("{:.1f} %", percent);
}

std::string HumanBytesInterval(double value, profile::Interval interval) {
  return HumanInterval(value, interval, ByteScale);
}

std::string HumanCountInterval(double value, profile::Interval interval) {
  return HumanInterval(value, interval, CountScale);
}

std::string HumanTimeInterval(double value, profile::Interval interval) {
  return interval.low == interval.high ? "" : HumanInterval(value, interval, TimeScale);
}

std::string Thousands(uint64_t n) {
  std::string digits = std::to_string(n);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

}  // namespace clrscope::report
