// SPDX-License-Identifier: Apache-2.0
// What the EventSource System.Diagnostics.Metrics tells of the histogram of requests' durations
// (http.server.request.duration of the meter Microsoft.AspNetCore.Hosting) and of the counter of
// matches (aspnetcore.routing.match_attempts of Microsoft.AspNetCore.Routing), and their texts.
// Sources: dotnet/runtime src/libraries/System.Diagnostics.DiagnosticSource
// src/System/Diagnostics/Metrics/MetricsEventSource.cs and AggregatorStore.cs; dotnet/aspnetcore
// HostingMetrics.cs and RoutingMetrics.cs. Layouts checked on .NET 8, 9 and 10.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "clr/raw_event.h"

namespace clrscope::clr {

// HistogramValuePublished, V1 (.NET 8) and V2 (9, 10, which append an instrument id). V0 of .NET 6
// and 7 has no count and does not decode. One event for each series and interval.
struct HistogramValue {
  Utf16View session_id;  // of the session that began first, which may be another tool's
  Utf16View meter;
  Utf16View instrument;
  Utf16View tags;       // ParseRequestTags
  Utf16View quantiles;  // ParseQuantiles
  int32_t count = 0;    // values in this interval; 0 for a series that had some before
  double sum = 0;       // their sum
};
bool Decode(const RawEvent& event, HistogramValue& out);
// Whether it is of the durations of requests.
bool IsRequestDuration(const HistogramValue& value);

// CounterRateValuePublished, V1 (.NET 8) and V2 (9, 10). V0 lacks the counter's sum.
struct CounterRate {
  Utf16View session_id;
  Utf16View meter;
  Utf16View instrument;
  Utf16View tags;    // ParseMatchTags
  double added = 0;  // in this interval: the text `rate`, in the culture of the program on .NET 8
};
// False where `rate` is no number, or negative.
bool Decode(const RawEvent& event, CounterRate& out);
// Whether it counts how often ASP.NET Core's routing looked for an endpoint.
bool IsMatchAttempts(const CounterRate& rate);

// CollectionStart and CollectionStop: the values between both are of this interval. By the
// program's wall clock. An interval that is none, or of weeks, does not decode.
struct CollectionTime {
  Utf16View session_id;
  int64_t start_unix_ns = 0;
  int64_t end_unix_ns = 0;
};
bool Decode(const RawEvent& event, CollectionTime& out);

// kMetricsLimit: series are missing from now on. kMetricsSharingError: two sessions want the
// metrics; `id` is the one that began first (15), or that whose arguments differ (17).
struct MetricsSession {
  Utf16View id;
};
bool Decode(const RawEvent& event, MetricsSession& out);

// The tags of a request. Texts are views into the text that was parsed.
struct RequestTags {
  std::string_view method;  // one of nine, or "_OTHER"
  std::string_view route;   // the template; of the root it is empty on .NET 8, "/" later
  std::string_view error_type;
  int status = 0;          // 0 = not told
  bool has_route = false;  // false: no endpoint was found (404, 405), or it has no route
  bool has_error_type = false;
  bool unhandled = false;  // the request reached the end of the pipeline
};
// `text`: HistogramValue::tags as UTF-8. The runtime joins "key=value" by commas and escapes
// nothing, while routes may have commas and equals signs. Keys come in ordinal order. A tag that
// appears twice counts as it first appears.
RequestTags ParseRequestTags(std::string_view text);

// The tags of a match. The route is a view into the text.
struct MatchTags {
  std::string_view route;  // as RequestTags has it
  bool has_route = false;  // false: nothing matched, or an endpoint without a route (405)
};
// `text`: CounterRate::tags as UTF-8, joined as those of a request are.
MatchTags ParseMatchTags(std::string_view text);

struct Quantiles {
  struct Entry {
    double quantile = 0;
    double value = 0;
  };
  static constexpr size_t kMost = 8;
  std::array<Entry, kMost> entries;
  size_t size = 0;

  // The value of `quantile`, or a negative one.
  double At(double quantile) const;
};
// `text`: HistogramValue::quantiles as UTF-8, "0.5=0.01;0.95=0.2;0.99=1E-05". .NET 8 writes numbers
// as the culture of the program does: "0,5=1E−05" with U+2212. Entries that are no numbers are left
// out; empty for a series without values in the interval.
Quantiles ParseQuantiles(std::string_view text);

}  // namespace clrscope::clr
