// SPDX-License-Identifier: Apache-2.0
#include "report/input/parse.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

namespace clrscope::report {
namespace {

constexpr double kMaxSeconds = 9e9;  // nanoseconds in an int64_t last 292 years

Error BadDuration(std::string_view text) {
  return Error{ErrorCode::kUsage,
               fmt::format("'{}' is no duration: write 30, 30s, 5m, 1h30m or 00:00:30", text)};
}

// Takes a plain decimal number ("12", "1.5") off the front.
std::optional<double> TakeNumber(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && ((text[n] >= '0' && text[n] <= '9') || text[n] == '.')) ++n;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + n, value);
  if (n == 0 || error != std::errc{} || end != text.data() + n) return std::nullopt;
  text.remove_prefix(n);
  return value;
}

std::string_view TakeLetters(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && ((text[n] | 0x20) >= 'a' && (text[n] | 0x20) <= 'z')) ++n;
  const std::string_view letters = text.substr(0, n);
  text.remove_prefix(n);
  return letters;
}

// m:s, h:m:s or d:h:m:s
std::optional<double> ColonSeconds(std::string_view text) {
  constexpr std::array<double, 4> kScale = {1, 60, 3600, 86400};  // from the right
  std::array<double, 4> parts{};
  size_t count = 0;
  for (;;) {
    const std::optional<double> part = TakeNumber(text);
    if (!part || count == parts.size()) return std::nullopt;
    parts[count++] = *part;
    if (text.empty()) break;
    if (text.front() != ':') return std::nullopt;
    text.remove_prefix(1);
  }
  double seconds = 0;
  for (size_t i = 0; i < count; ++i) seconds += parts[i] * kScale[count - 1 - i];
  return seconds;
}

std::optional<double> UnitSeconds(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  constexpr Unit kUnits[] = {{"ms", 1e-3}, {"s", 1},    {"sec", 1},  {"m", 60},
                             {"min", 60},  {"h", 3600}, {"d", 86400}};
  double seconds = 0;
  double previous = 1e300;  // units descend: 1h30m, not 30m1h
  while (!text.empty()) {
    const std::optional<double> number = TakeNumber(text);
    if (!number) return std::nullopt;
    const std::string_view letters = TakeLetters(text);
    double unit = letters.empty() && previous > 1e299 && text.empty() ? 1 : 0;
    for (const Unit& u : kUnits)
      if (u.name == letters) unit = u.seconds;
    if (unit == 0 || unit >= previous) return std::nullopt;
    seconds += *number * unit;
    previous = unit;
  }
  return seconds;
}

}  // namespace

Result<int64_t> ParseDuration(std::string_view text) {
  const bool colons = text.find(':') != std::string_view::npos;
  const std::optional<double> seconds = colons ? ColonSeconds(text) : UnitSeconds(text);
  if (text.empty() || !seconds || !(*seconds <= kMaxSeconds)) return BadDuration(text);
  return std::llround(*seconds * 1e9);
}

Result<uint64_t> ParseSize(std::string_view text) {
  std::string_view rest = text;
  const Error bad{ErrorCode::kUsage,
                  fmt::format("'{}' is no size: write 4096, 512k, 64M or 2G", text)};
  const std::optional<double> number = TakeNumber(rest);
  if (!number) return bad;
  std::string unit;
  for (const char c : rest) unit.push_back(static_cast<char>(c | 0x20));
  if (unit.ends_with("ib") && unit.size() == 3) unit.resize(1);
  if (unit.ends_with("b")) unit.pop_back();
  constexpr std::string_view kUnits = "kmgt";
  double scale = 1;
  if (!unit.empty()) {
    const size_t at = kUnits.find(unit.front());
    if (unit.size() != 1 || at == std::string_view::npos) return bad;
    scale = std::ldexp(1.0, static_cast<int>(at + 1) * 10);
  }
  const double bytes = *number * scale;
  if (!(bytes < 9e18)) return bad;
  return static_cast<uint64_t>(std::llround(bytes));
}

}  // namespace clrscope::report
