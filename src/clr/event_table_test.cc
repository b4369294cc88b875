// SPDX-License-Identifier: Apache-2.0
#include "clr/event_table.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace clrscope::clr {
namespace {

// The numbers of dotnet/runtime src/coreclr/vm/ClrEtwAll.man.
static_assert(RuntimeEventId(EventTag::kGcStart) == 1);
static_assert(RuntimeEventId(EventTag::kGcRestartEeEnd) == 3);
static_assert(RuntimeEventId(EventTag::kGcSuspendEeBegin) == 9);
static_assert(RuntimeEventId(EventTag::kAllocationTick) == 10);
static_assert(RuntimeEventId(EventTag::kMethodLoadVerbose) == 143);
static_assert(RuntimeEventId(EventTag::kAllocationSampled) == 303);

TEST(EventTable, EachIdIsListedOnceAndIsFound) {
  std::set<std::pair<Provider, uint32_t>> ids;
  for (const EventSpec& spec : kEventTable) {
    if (spec.id != kIdByName) {
      EXPECT_TRUE(ids.insert({spec.provider, spec.id}).second) << spec.name;
    }
    EXPECT_EQ(FindEvent(spec.provider, spec.id, spec.name), spec.tag) << spec.name;
  }
  EXPECT_EQ(FindEvent(Provider::kRuntime, 9999), EventTag::kUnknown);
}

TEST(EventTable, EventSourcesHaveFixedIdsButForCounters) {
  EXPECT_EQ(FindEvent(Provider::kAspNetHosting, 3, "RequestStart"), EventTag::kRequestStart);
  EXPECT_EQ(FindEvent(Provider::kAspNetHosting, 4), EventTag::kRequestStop);
  EXPECT_EQ(FindEvent(Provider::kAspNetHosting, 5), EventTag::kRequestException);
  EXPECT_EQ(FindEvent(Provider::kAspNetHosting, 9, "EventCounters"), EventTag::kUnknown);
  EXPECT_EQ(FindEvent(Provider::kMetrics, 2), EventTag::kMetricsCollectionStart);
  EXPECT_EQ(FindEvent(Provider::kMetrics, 6), EventTag::kHistogramValue);
  EXPECT_EQ(FindEvent(Provider::kMetrics, 13), EventTag::kMetricsLimit);
  EXPECT_EQ(FindEvent(Provider::kMetrics, 15), EventTag::kMetricsSharingError);
  EXPECT_EQ(FindEvent(Provider::kTpl, 10), EventTag::kTaskWaitBegin);
  EXPECT_EQ(FindEvent(Provider::kTpl, 11), EventTag::kTaskWaitEnd);
  EXPECT_EQ(FindEvent(Provider::kTpl, 12), EventTag::kAwaitScheduled);
  EXPECT_EQ(FindEvent(Provider::kHttpClient, 1), EventTag::kHttpStart);
  EXPECT_EQ(FindEvent(Provider::kHttpClient, 7), EventTag::kUnknown);  // RequestHeadersStart
  EXPECT_EQ(FindEvent(Provider::kDiagnostics, 30, "ActivityStart"), EventTag::kActivityStart);
  EXPECT_EQ(FindEvent(Provider::kDiagnostics, 31, "ActivityStop"), EventTag::kActivityStop);
  EXPECT_EQ(ProviderFromName("System.Net.Http"), Provider::kHttpClient);
  EXPECT_EQ(ProviderFromName("Microsoft-Diagnostics-DiagnosticSource"), Provider::kDiagnostics);
  EXPECT_EQ(ProviderFromName("Npgsql.Sql"), Provider::kNpgsql);
  EXPECT_EQ(ProviderFromName("Microsoft.Data.SqlClient.EventSource"), Provider::kSqlClient);
  EXPECT_EQ(ProviderFromName("Microsoft.AspNetCore.Hosting"), Provider::kAspNetHosting);
  EXPECT_EQ(ProviderFromName("System.Diagnostics.Metrics"), Provider::kMetrics);
  EXPECT_EQ(ProviderFromName("System.Threading.Tasks.TplEventSource"), Provider::kTpl);
}

}  // namespace
}  // namespace clrscope::clr
