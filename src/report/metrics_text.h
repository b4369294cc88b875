// SPDX-License-Identifier: Apache-2.0
// Figures of live processes in the text formats that Prometheus scrapes.
#pragma once

#include <string>
#include <string_view>

#include "capture/watch/live_view.h"

namespace clrscope::report {

enum class MetricsFormat { kPrometheus, kOpenMetrics };

// What a scraper's Accept header asks for.
MetricsFormat FormatFor(std::string_view accept);
std::string_view ContentType(MetricsFormat format);

// Names, units and labels of GC figures are those of the OpenTelemetry conventions for .NET
// (docs/specs/semconv/runtime/dotnet-metrics) as Prometheus writes them; clrscope's own begin with
// clrscope_. Counters begin when clrscope joins a process. A process that has ended is left out.
std::string MetricsText(const capture::LiveView& view, MetricsFormat format);

}  // namespace clrscope::report
