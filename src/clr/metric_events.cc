// SPDX-License-Identifier: Apache-2.0
#include "clr/metric_events.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "base/utf.h"
#include "clr/counter_events.h"

namespace clrscope::clr {
namespace {

// A DateTime in an event is 100 ns since 1601. False when it is not in the years 1970 to 2200.
bool UnixNsOfFileTime(int64_t file_time, int64_t& unix_ns) {
  constexpr int64_t kTicks1970 = 116'444'736'000'000'000;
  constexpr int64_t kMostTicks = int64_t{230} * 366 * 86'400 * 10'000'000;
  if (file_time < kTicks1970 || file_time - kTicks1970 > kMostTicks) return false;
  unix_ns = (file_time - kTicks1970) * 100;
  return true;
}

// The tags that ASP.NET Core itself sets, and those of its middleware.
constexpr std::string_view kKnownTags[] = {
    "aspnetcore.request.is_unhandled",
    "aspnetcore.routing.is_fallback",
    "aspnetcore.routing.match_status",
    "aspnetcore.user.is_authenticated",
    "error.type",
    "http.request.method",
    "http.response.status_code",
    "http.route",
    "network.protocol.name",
    "network.protocol.version",
    "server.address",
    "server.port",
    "tls.protocol.version",
    "url.scheme",
};

bool IsKnownTag(std::string_view key) {
  return std::find(std::begin(kKnownTags), std::end(kKnownTags), key) != std::end(kKnownTags);
}

// The key in "key=…" at the beginning of `text`, or nothing: it has none of the characters that
// separate tags and of those that stand in routes' parameters.
std::string_view TagKeyAt(std::string_view text) {
  const size_t end = text.find_first_of("=,{}()/?*");
  return end == text.npos || text[end] != '=' ? std::string_view{} : text.substr(0, end);
}

// Where the value of `key`, that begins at `from`, ends: the comma before the next tag, or the
// text's end. `braces`: no tag begins within a route's parameter.
size_t TagValueEnd(std::string_view text, size_t from, std::string_view key, bool braces) {
  bool inside = false;
  for (size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (braces && (c == '{' || c == '}')) {
      if (i + 1 < text.size() && text[i + 1] == c) {
        ++i;  // an escaped one
      } else {
        inside = c == '{';
      }
      continue;
    }
    if (c != ',' || inside) continue;
    const std::string_view next = TagKeyAt(text.substr(i + 1));
    // One that is not known could as well be a part of the value, unless it stands in its place.
    if (!next.empty() && (IsKnownTag(next) || next >= key)) return i;
  }
  // A brace that is never closed is none of a route.
  return inside ? TagValueEnd(text, from, key, false) : text.size();
}

int ParseStatus(std::string_view text) {
  int status = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && status > 0 && status < 1000 ? status : 0;
}

// A number as .NET writes it in any culture whose digits are ASCII. False for others, and for what
// is not finite.
bool ParseCultureNumber(std::string_view text, double& out) {
  std::array<char, 64> plain;
  size_t size = 0;
  while (!text.empty()) {
    char c = text[0];
    size_t used = 1;
    if (c == ',' || text.starts_with("\u066B")) {
      used = c == ',' ? 1 : 2;
      c = '.';
    } else if (text.starts_with("\u2212")) {
      used = 3;
      c = '-';
    } else if (text.starts_with("\u200E") || text.starts_with("\u200F")) {
      text.remove_prefix(3);  // marks of direction
      continue;
    } else if (text.starts_with("\u061C")) {
      text.remove_prefix(2);
      continue;
    }
    if (size == plain.size()) return false;
    plain[size++] = c;
    text.remove_prefix(used);
  }
  // from_chars knows no plus before the mantissa, and .NET writes none.
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + size, out);
  return error == std::errc() && end == plain.data() + size && std::isfinite(out);
}

// What every value begins with: of which series it is.
template <class Value>
void ReadSeries(ByteReader& r, Value& out) {
  out.session_id = r.Utf16Z();
  out.meter = r.Utf16Z();
  (void)r.Utf16Z();  // the meter's version
  out.instrument = r.Utf16Z();
  (void)r.Utf16Z();  // the unit
  out.tags = r.Utf16Z();
}

}  // namespace

bool Decode(const RawEvent& event, HistogramValue& out) {
  ByteReader r(event.payload);
  ReadSeries(r, out);
  out.quantiles = r.Utf16Z();
  out.count = r.I32();
  out.sum = r.F64();
  constexpr double kMost = 1e15;
  return r.ok() && out.count >= 0 && std::abs(out.sum) <= kMost;  // false for NaN, too
}

bool IsRequestDuration(const HistogramValue& value) {
  return IsCounter(value.instrument, u"http.server.request.duration") &&
         IsCounter(value.meter, u"Microsoft.AspNetCore.Hosting");
}

bool Decode(const RawEvent& event, CounterRate& out) {
  ByteReader r(event.payload);
  ReadSeries(r, out);
  const Utf16View rate = r.Utf16Z();
  (void)r.Utf16Z();  // the sum since the counter began
  constexpr size_t kLongest = 64;
  constexpr double kMost = 1e15;
  return r.ok() && rate.units <= kLongest && ParseCultureNumber(ToUtf8(rate), out.added) &&
         out.added >= 0 && out.added <= kMost;
}

bool IsMatchAttempts(const CounterRate& rate) {
  return IsCounter(rate.instrument, u"aspnetcore.routing.match_attempts") &&
         IsCounter(rate.meter, u"Microsoft.AspNetCore.Routing");
}

bool Decode(const RawEvent& event, CollectionTime& out) {
  ByteReader r(event.payload);
  out = {};
  out.session_id = r.Utf16Z();
  const int64_t start = r.I64(), end = r.I64();
  constexpr int64_t kLongest = int64_t{1'000'000} * 1'000'000'000;
  return r.ok() && UnixNsOfFileTime(start, out.start_unix_ns) &&
         UnixNsOfFileTime(end, out.end_unix_ns) && out.end_unix_ns >= out.start_unix_ns &&
         out.end_unix_ns - out.start_unix_ns <= kLongest;
}

bool Decode(const RawEvent& event, MetricsSession& out) {
  ByteReader r(event.payload);
  out.id = r.Utf16Z();
  return r.ok();
}

RequestTags ParseRequestTags(std::string_view text) {
  RequestTags out;
  bool has_method = false, has_status = false;
  for (size_t at = 0; at < text.size();) {
    const size_t equals = text.find('=', at);
    if (equals == text.npos) break;
    const std::string_view key = text.substr(at, equals - at);
    const bool route = key == "http.route" && !out.has_route;
    const size_t end = TagValueEnd(text, equals + 1, key, route);
    const std::string_view value = text.substr(equals + 1, end - equals - 1);
    at = end + 1;
    if (key == "http.request.method" && !has_method) {
      has_method = true;
      out.method = value;
    } else if (key == "http.response.status_code" && !has_status) {
      has_status = true;
      out.status = ParseStatus(value);
    } else if (route) {
      out.has_route = true;
      out.route = value;
    } else if (key == "error.type" && !out.has_error_type) {
      out.has_error_type = true;
      out.error_type = value;
    } else if (key == "aspnetcore.request.is_unhandled") {
      out.unhandled = value == "True";
    }
  }
  return out;
}

MatchTags ParseMatchTags(std::string_view text) {
  // What an endpoint without a route has. Source: dotnet/aspnetcore EndpointRoutingMiddleware.cs.
  constexpr std::string_view kMissing = "(missing)";
  const RequestTags tags = ParseRequestTags(text);
  if (!tags.has_route || tags.route == kMissing) return {};
  return {tags.route, true};
}

double Quantiles::At(double quantile) const {
  for (size_t i = 0; i < size; ++i)
    if (std::abs(entries[i].quantile - quantile) < 1e-9) return entries[i].value;
  return -1;
}

Quantiles ParseQuantiles(std::string_view text) {
  Quantiles out;
  while (!text.empty() && out.size < Quantiles::kMost) {
    const std::string_view entry = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const size_t equals = entry.find('=');
    if (equals == entry.npos) continue;
    Quantiles::Entry e;
    if (ParseCultureNumber(entry.substr(0, equals), e.quantile) && e.quantile >= 0 &&
        e.quantile <= 1 && ParseCultureNumber(entry.substr(equals + 1), e.value))
      out.entries[out.size++] = e;
  }
  return out;
}

}  // namespace clrscope::clr
