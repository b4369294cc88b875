// SPDX-License-Identifier: Apache-2.0
#include "clr/event_table.h"

namespace clrscope::clr {

Provider ProviderFromName(std::string_view name) {
  if (name == kRuntimeProvider) return Provider::kRuntime;
  if (name == kRundownProvider) return Provider::kRundown;
  if (name == kEventPipeProvider) return Provider::kEventPipe;
  if (name == kSampleProfilerProvider) return Provider::kSampleProfiler;
  if (name == kSystemRuntimeProvider) return Provider::kSystemRuntime;
  if (name == kAspNetHostingProvider) return Provider::kAspNetHosting;
  if (name == kMetricsProvider) return Provider::kMetrics;
  if (name == kTplProvider) return Provider::kTpl;
  if (name == kFrameworkProvider) return Provider::kFramework;
  if (name == kHttpClientProvider) return Provider::kHttpClient;
  if (name == kDiagnosticsProvider) return Provider::kDiagnostics;
  if (name == kNpgsqlProvider) return Provider::kNpgsql;
  if (name == kSqlClientProvider) return Provider::kSqlClient;
  if (name == kUniversalEventsProvider) return Provider::kUniversalEvents;
  if (name == kUniversalSystemProvider) return Provider::kUniversalSystem;
  return Provider::kOther;
}

EventTag FindEvent(Provider provider, uint32_t id, std::string_view name) {
  for (const EventSpec& spec : kEventTable)
    if (spec.provider == provider && (spec.id == kIdByName ? spec.name == name : spec.id == id))
      return spec.tag;
  return EventTag::kUnknown;
}

std::string_view EventName(EventTag tag) {
  for (const EventSpec& spec : kEventTable)
    if (spec.tag == tag) return spec.name;
  return {};
}

}  // namespace clrscope::clr
