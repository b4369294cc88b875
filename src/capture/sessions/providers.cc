// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/providers.h"

#include <fmt/format.h>

#include "clr/event_table.h"

namespace clrscope::capture {
namespace {

namespace keyword = clr::keyword;
using clr::EventTag;
using clr::RuntimeEventId;

constexpr uint32_t kError = 2, kInformational = 4, kVerbose = 5;
constexpr uint64_t kCode = keyword::kLoader | keyword::kJit | keyword::kNGen;

// A session needs a provider; this one's keyword is rare (AppDomain resource monitoring).
constexpr uint64_t kRareKeyword = 0x800;

// Level 5 brings much that is not needed. GCStart and GCJoin are probe events: without them the
// runtime stops sending ticks at the next GC (dotnet/runtime src/coreclr/vm/gcenv.ee.cpp).
const std::vector<uint32_t> kTickEvents = {RuntimeEventId(EventTag::kGcStart),
                                           RuntimeEventId(EventTag::kGcEnd),
                                           RuntimeEventId(EventTag::kGcRestartEeEnd),
                                           RuntimeEventId(EventTag::kGcHeapStats),
                                           RuntimeEventId(EventTag::kGcRestartEeBegin),
                                           RuntimeEventId(EventTag::kGcSuspendEeEnd),
                                           RuntimeEventId(EventTag::kGcSuspendEeBegin),
                                           RuntimeEventId(EventTag::kAllocationTick),
                                           RuntimeEventId(EventTag::kGcFinalizersEnd),
                                           RuntimeEventId(EventTag::kGcTriggered),
                                           RuntimeEventId(EventTag::kGcDynamic),
                                           RuntimeEventId(EventTag::kGcMarkWithType),
                                           RuntimeEventId(EventTag::kGcJoin),
                                           RuntimeEventId(EventTag::kGcPerHeapHistory),
                                           RuntimeEventId(EventTag::kGcGlobalHeapHistory),
                                           RuntimeEventId(EventTag::kMethodLoadVerbose),
                                           RuntimeEventId(EventTag::kMethodUnloadVerbose),
                                           RuntimeEventId(EventTag::kDomainModuleLoad),
                                           RuntimeEventId(EventTag::kModuleLoad),
                                           RuntimeEventId(EventTag::kModuleUnload),
                                           RuntimeEventId(EventTag::kAssemblyLoad),
                                           RuntimeEventId(EventTag::kAssemblyUnload),
                                           RuntimeEventId(EventTag::kAppDomainLoad),
                                           RuntimeEventId(EventTag::kAppDomainUnload),
                                           RuntimeEventId(EventTag::kRuntimeStart)};

constexpr uint64_t kNoKeyword = 0x100000000000;

const std::vector<uint32_t> kHttpEvents = {
    EventIdOf(clr::Provider::kHttpClient, EventTag::kHttpStart),
    EventIdOf(clr::Provider::kHttpClient, EventTag::kHttpStop),
    EventIdOf(clr::Provider::kHttpClient, EventTag::kHttpFailed)};

ipc::SessionConfig Runtime(uint64_t keywords, uint32_t level) {
  ipc::SessionConfig config;
  ipc::ProviderConfig provider;
  provider.name = std::string(clr::kRuntimeProvider);
  provider.keywords = keywords;
  provider.level = level;
  config.providers.push_back(provider);
  return config;
}

}  // namespace

Result<profile::Source> ChooseSource(Sampling sampling, std::string_view clr_version) {
  const bool has_sampled =
      ipc::SamplingEventOf(clr_version) == ipc::SamplingEvent::kAllocationSampled;
  switch (sampling) {
    case Sampling::kTick:
      return profile::Source::kTick;
    case Sampling::kPoisson:
      if (!has_sampled)
        return Error{ErrorCode::kRefused,
                     fmt::format("--sampling poisson needs AllocationSampled, which .NET 10 has "
                                 "and this runtime ({}) lacks: "
                                 "use --sampling tick or auto",
                                 clr_version.empty() ? "of an unknown version" : clr_version)};
      return profile::Source::kSampled;
    case Sampling::kAuto:
      break;
  }
  return has_sampled ? profile::Source::kSampled : profile::Source::kTick;
}

// Before it the runtime has no event of them.
bool TellsWaits(std::string_view clr_version) {
  const int major = ipc::MajorVersion(clr_version);
  return major == 0 || major >= 9;
}

ipc::SessionConfig AllocationSession(profile::Source source, uint32_t buffer_mb, bool rundown) {
  ipc::SessionConfig config;
  if (source == profile::Source::kSampled) {
    config = Runtime(keyword::kGc | kCode | keyword::kAllocationSampling, kInformational);
  } else {
    config = Runtime(keyword::kGc | kCode, kVerbose);
    config.providers[0].filter = ipc::EventFilter{true, kTickEvents};
  }
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = rundown ? ipc::kDefaultRundown : 0;
  return config;
}

ipc::SessionConfig CodeSession(uint32_t buffer_mb, bool rundown) {
  ipc::SessionConfig config = Runtime(keyword::kGc | kCode, kInformational);
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = rundown ? ipc::kDefaultRundown : 0;
  config.stackwalk = false;
  return config;
}

ipc::SessionConfig CollectionSession(uint32_t buffer_mb) {
  ipc::SessionConfig config = Runtime(keyword::kGc | kCode, kInformational);
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = 0;
  return config;
}

ipc::SessionConfig AllocationsAlone(profile::Source source, uint32_t buffer_mb) {
  ipc::SessionConfig config;
  if (source == profile::Source::kSampled) {
    config = Runtime(keyword::kAllocationSampling, kInformational);
  } else {
    config = Runtime(keyword::kGc, kVerbose);
    config.providers[0].filter = ipc::EventFilter{true, kTickEvents};
  }
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = 0;
  return config;
}

ipc::SessionConfig ExceptionSession(uint32_t buffer_mb) {
  ipc::SessionConfig config = Runtime(keyword::kException, kError);
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = 0;
  return config;
}

ipc::SessionConfig CounterSession() {
  ipc::SessionConfig config;
  ipc::ProviderConfig provider;
  provider.name = std::string(clr::kSystemRuntimeProvider);
  // Counters have no keyword; with one that nothing has, the source's other events stay away.
  provider.keywords = kNoKeyword;
  provider.level = kError;
  provider.args = "EventCounterIntervalSec=1";
  config.providers.push_back(provider);
  config.buffer_mb = 1;
  config.rundown_keyword = 0;
  config.stackwalk = false;
  return config;
}

ipc::SessionConfig LockSession(uint32_t buffer_mb, bool waits) {
  ipc::SessionConfig config = Runtime(keyword::kContention | (waits ? keyword::kWaitHandle : 0),
                                      waits ? kVerbose : kInformational);
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = 0;
  return config;
}

ipc::SessionConfig ThreadSampleSession(uint32_t buffer_mb) {
  ipc::SessionConfig config;
  ipc::ProviderConfig provider;
  provider.name = std::string(clr::kSampleProfilerProvider);
  provider.level = kVerbose;
  config.providers.push_back(provider);
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = 0;
  return config;
}

ipc::SessionConfig TaskSession(uint32_t buffer_mb) {
  // Waits end and work items are queued at level 5. TaskCompleted and TaskWaitContinuationComplete
  // have TaskStops.
  constexpr uint64_t kTasks = 0x2, kTaskStops = 0x40, kThreadPool = 0x2;
  ipc::SessionConfig config;
  ipc::ProviderConfig tasks, pool;
  tasks.name = std::string(clr::kTplProvider);
  tasks.keywords = kTasks | kTaskStops;
  pool.name = std::string(clr::kFrameworkProvider);
  pool.keywords = kThreadPool;
  tasks.level = pool.level = kVerbose;
  config.providers = {tasks, pool};
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = 0;
  config.stackwalk = false;
  return config;
}

namespace {

// A line each. Source: DiagnosticSourceEventSource.cs, FilterAndPayloadSpecs; "-": none of the
// payload but what is named.
ipc::ProviderConfig Diagnostics(const RequestExtras& extras) {
  constexpr uint64_t kEvents = 2;
  std::string specs;
  const auto add = [&specs](std::string_view spec) {
    if (!specs.empty()) specs += '\n';
    specs += spec;
  };
  if (extras.activities) {
    // Propagate: activities are made without data, and other services are not told to record them.
    add("[AS]*/-Propagate:-Parent.OperationName;Status");
    for (const std::string_view end : {"CommandExecuted", "CommandError"})
      add(
          fmt::format("Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database."
                      "Command.{}:-Command=Command.CommandText;Duration=Duration",
                      end));
  }
  if (extras.routing)
    add("Microsoft.AspNetCore/Microsoft.AspNetCore.Routing.EndpointMatched:"
        "-RouteValues=Request.RouteValues.*Enumerate;Path=Request.Path.Value");
  if (extras.statuses) {
    add("Microsoft.AspNetCore/Microsoft.AspNetCore.Hosting.EndRequest:"
        "-Status=httpContext.Response.StatusCode");
    add("Microsoft.AspNetCore/Microsoft.AspNetCore.Hosting.UnhandledException:-Time=timestamp");
  }
  ipc::ProviderConfig out;
  out.name = std::string(clr::kDiagnosticsProvider);
  out.keywords = kEvents;
  out.level = kInformational;
  out.args = fmt::format("FilterAndPayloadSpecs=\"{}\"", specs);
  return out;
}

}  // namespace

ipc::SessionConfig RoutingSession(uint32_t buffer_mb) {
  ipc::SessionConfig config;
  config.providers = {Diagnostics({.routing = true, .statuses = true})};
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = 0;
  config.stackwalk = false;
  return config;
}

ipc::SessionConfig RequestSession(uint32_t buffer_mb, const RequestExtras& extras) {
  // TasksFlowActivityIds alone makes no event of its own.
  constexpr uint64_t kFlowIds = 0x80;
  ipc::SessionConfig config;
  ipc::ProviderConfig flow, hosting;
  flow.name = std::string(clr::kTplProvider);
  flow.keywords = kFlowIds;
  flow.level = kInformational;
  hosting.name = std::string(clr::kAspNetHostingProvider);
  hosting.keywords = ~uint64_t{0};
  hosting.level = kInformational;
  // What requests call. Where events are not filtered (.NET 8, 9) each call has some ten of them.
  ipc::ProviderConfig http;
  http.name = std::string(clr::kHttpClientProvider);
  http.keywords = kNoKeyword;
  http.level = kInformational;
  http.filter = ipc::EventFilter{true, kHttpEvents};
  ipc::ProviderConfig npgsql, sql_client;
  npgsql.name = std::string(clr::kNpgsqlProvider);
  npgsql.keywords = kNoKeyword;
  npgsql.level = kInformational;
  constexpr uint64_t kExecutionTrace = 1;
  sql_client.name = std::string(clr::kSqlClientProvider);
  sql_client.keywords = kExecutionTrace;
  sql_client.level = kInformational;
  config.providers = {flow, hosting, http, npgsql, sql_client};
  if (extras.activities || extras.routing || extras.statuses)
    config.providers.push_back(Diagnostics(extras));
  if (extras.tasks) {
    std::vector<ipc::ProviderConfig> more = TaskSession(buffer_mb).providers;
    config.providers[0].keywords |= more[0].keywords;
    config.providers[0].level = more[0].level;
    config.providers.push_back(std::move(more[1]));
  }
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = 0;
  config.stackwalk = false;
  return config;
}

ipc::SessionConfig RequestCounterSession(std::string_view identifier,
                                         std::optional<uint32_t> series) {
  constexpr uint64_t kTimeSeriesValues = 2;
  ipc::SessionConfig config;
  ipc::ProviderConfig provider;
  provider.name = std::string(clr::kMetricsProvider);
  provider.keywords = kTimeSeriesValues;
  provider.level = kInformational;
  // What a shared session does not ask for it takes as it is (MetricsEventSource.ParseArgs).
  provider.args = fmt::format(
      "SessionId=SHARED;SharedIdentifier={};ClientId={};"
      "Metrics=Microsoft.AspNetCore.Hosting\\http.server.request.duration,"
      "Microsoft.AspNetCore.Routing\\aspnetcore.routing.match_attempts",
      identifier, identifier);
  if (series)
    provider.args += fmt::format(";RefreshInterval=1;MaxTimeSeries={0};MaxHistograms={0}", *series);
  config.providers.push_back(provider);
  config.buffer_mb = 4;
  config.rundown_keyword = 0;
  config.stackwalk = false;
  return config;
}

ipc::SessionConfig TypeCountSession(profile::CountMode mode, uint32_t buffer_mb) {
  uint64_t keywords = 0;
  if (mode != profile::CountMode::kHigh) keywords |= keyword::kSampledObjectLow;
  if (mode != profile::CountMode::kLow) keywords |= keyword::kSampledObjectHigh;
  ipc::SessionConfig config = Runtime(keywords, kInformational);
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = 0;
  return config;
}

ipc::SessionConfig TypeNameSession(bool rundown) {
  ipc::SessionConfig config =
      Runtime(keyword::kGc | kCode | keyword::kType | keyword::kHeapAndTypeNames, kVerbose);
  std::vector<uint32_t> events = kTickEvents;
  events.push_back(RuntimeEventId(EventTag::kBulkType));
  config.providers[0].filter = ipc::EventFilter{true, events};
  config.rundown_keyword = rundown ? ipc::kDefaultRundown : 0;
  return config;
}

ipc::SessionConfig SettingsSession() {
  ipc::SessionConfig config = Runtime(kRareKeyword, kInformational);
  config.buffer_mb = 16;
  config.rundown_keyword = keyword::kGc;
  config.stackwalk = false;
  return config;
}

ipc::SessionConfig EntryPointSession() {
  ipc::SessionConfig config = Runtime(keyword::kCompilationDiagnostic, kVerbose);
  config.providers[0].filter = ipc::EventFilter{true, {RuntimeEventId(EventTag::kR2rEntryPoint)}};
  config.buffer_mb = 32;
  config.rundown_keyword = 0;
  config.stackwalk = false;
  return config;
}

ipc::SessionConfig ReminderSession() {
  ipc::SessionConfig config = Runtime(kRareKeyword, kInformational);
  config.buffer_mb = 1;
  config.rundown_keyword = 0;
  config.stackwalk = false;
  return config;
}

// The runtime tells maps at level 5 only, where the keyword of JIT is on (dotnet/runtime
// src/coreclr/vm/eventtrace.cpp, MethodLog::SendMethodEvent).
ipc::SessionConfig LineSession(uint32_t buffer_mb) {
  ipc::SessionConfig config = Runtime(keyword::kJit | keyword::kIlToNativeMap, kVerbose);
  config.providers[0].filter = ipc::EventFilter{true, {RuntimeEventId(EventTag::kIlToNativeMap)}};
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = 0;
  config.stackwalk = false;
  return config;
}

ipc::SessionConfig RundownSession(bool lines) {
  ipc::SessionConfig config = ReminderSession();
  config.buffer_mb = 64;
  config.rundown_keyword = kCode | keyword::kGc;
  if (lines) config.rundown_keyword |= keyword::kIlToNativeMap;
  return config;
}

}  // namespace clrscope::capture
