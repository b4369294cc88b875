// SPDX-License-Identifier: Apache-2.0
// The table of events that clrscope understands: one row names an event, its provider and id.
// To add an event: a tag and a row here, a struct and Decode() in the header of its family.
// Sources: dotnet/runtime src/coreclr/vm/ClrEtwAll.man; of EventSources their classes:
// MetricsEventSource.cs, TplEventSource.cs, dotnet/aspnetcore HostingEventSource.cs; of operations
// those that operation_events.h names.
#pragma once

#include <cstdint>
#include <string_view>

namespace clrscope::clr {

enum class Provider : uint8_t {
  kOther,
  kRuntime,          // Microsoft-Windows-DotNETRuntime
  kRundown,          // Microsoft-Windows-DotNETRuntimeRundown
  kEventPipe,        // Microsoft-DotNETCore-EventPipe
  kSampleProfiler,   // Microsoft-DotNETCore-SampleProfiler
  kSystemRuntime,    // System.Runtime, an EventSource
  kAspNetHosting,    // Microsoft.AspNetCore.Hosting, an EventSource
  kMetrics,          // System.Diagnostics.Metrics, an EventSource
  kTpl,              // System.Threading.Tasks.TplEventSource
  kFramework,        // System.Diagnostics.Eventing.FrameworkEventSource
  kHttpClient,       // System.Net.Http, an EventSource
  kDiagnostics,      // Microsoft-Diagnostics-DiagnosticSource, an EventSource
  kNpgsql,           // Npgsql.Sql, an EventSource
  kSqlClient,        // Microsoft.Data.SqlClient.EventSource
  kUniversalEvents,  // Universal.Events, of collect-linux
  kUniversalSystem,  // Universal.System, of collect-linux
};
inline constexpr std::string_view kRuntimeProvider = "Microsoft-Windows-DotNETRuntime";
inline constexpr std::string_view kRundownProvider = "Microsoft-Windows-DotNETRuntimeRundown";
inline constexpr std::string_view kEventPipeProvider = "Microsoft-DotNETCore-EventPipe";
inline constexpr std::string_view kSampleProfilerProvider = "Microsoft-DotNETCore-SampleProfiler";
inline constexpr std::string_view kSystemRuntimeProvider = "System.Runtime";
inline constexpr std::string_view kAspNetHostingProvider = "Microsoft.AspNetCore.Hosting";
inline constexpr std::string_view kMetricsProvider = "System.Diagnostics.Metrics";
inline constexpr std::string_view kTplProvider = "System.Threading.Tasks.TplEventSource";
inline constexpr std::string_view kFrameworkProvider =
    "System.Diagnostics.Eventing.FrameworkEventSource";
inline constexpr std::string_view kHttpClientProvider = "System.Net.Http";
inline constexpr std::string_view kDiagnosticsProvider = "Microsoft-Diagnostics-DiagnosticSource";
inline constexpr std::string_view kNpgsqlProvider = "Npgsql.Sql";
inline constexpr std::string_view kSqlClientProvider = "Microsoft.Data.SqlClient.EventSource";
inline constexpr std::string_view kUniversalEventsProvider = "Universal.Events";
inline constexpr std::string_view kUniversalSystemProvider = "Universal.System";
Provider ProviderFromName(std::string_view name);

enum class EventTag : uint8_t {
  kUnknown,
  // allocation
  kAllocationTick,
  kAllocationSampled,
  kSampledObjectAllocation,
  // garbage collection
  kGcStart,
  kGcEnd,
  kGcHeapStats,
  kGcCreateSegment,
  kGcFreeSegment,
  kGcRestartEeBegin,
  kGcRestartEeEnd,
  kGcSuspendEeBegin,
  kGcSuspendEeEnd,
  kGcTriggered,
  kGcPerHeapHistory,
  kGcGlobalHeapHistory,
  kGcMarkWithType,
  kGcJoin,
  kGcPinObject,
  kGcFinalizeObject,
  kGcFinalizersBegin,
  kGcFinalizersEnd,
  kGcSetHandle,
  kGcDestroyHandle,
  kGcGenerationRange,
  kGcDynamic,
  kGcSettings,
  kGcBulkSurviving,
  kGcBulkMoved,
  // types
  kBulkType,
  // code
  kMethodLoad,
  kMethodUnload,
  kMethodLoadVerbose,
  kMethodUnloadVerbose,
  kMethodDcEnd,
  kMethodDcEndVerbose,
  kMethodDcStart,
  kMethodDcStartVerbose,
  kMethodDetails,
  kR2rEntryPoint,
  kR2rEntryPointStart,
  kIlToNativeMap,
  kDcEndComplete,
  kModuleLoad,
  kModuleUnload,
  kModuleDcEnd,
  kModuleDcStart,
  kDomainModuleLoad,
  kAssemblyLoad,
  kAssemblyUnload,
  kAssemblyDcEnd,
  kAppDomainLoad,
  kAppDomainUnload,
  kAppDomainDcEnd,
  kRuntimeStart,
  // others
  kException,
  kContentionStart,
  kContentionStop,
  kContentionLockCreated,
  kWaitStart,
  kWaitStop,
  kThreadCreated,
  kProcessInfo,
  kEventCounter,
  kThreadSample,
  // of a whole machine
  kUniversalCpu,
  kUniversalSwitch,
  kUniversalProcess,
  kUniversalExit,
  kUniversalMapping,
  kUniversalSymbol,
  // requests
  kRequestStart,
  kRequestStop,
  kRequestException,
  kMetricsCollectionStart,
  kMetricsCollectionStop,
  kCounterRate,
  kHistogramValue,
  kMetricsSharingError,
  kMetricsLimit,
  // what threads do for them
  kTaskScheduled,
  kTaskStarted,
  kTaskCompleted,
  kTaskWaitBegin,
  kTaskWaitEnd,
  kAwaitScheduled,
  kTaskContinued,
  kPoolEnqueue,
  kPoolDequeue,
  // operations
  kHttpStart,
  kHttpStop,
  kHttpFailed,
  kDiagnosticEvent,
  kActivityStart,
  kActivityStop,
  kNpgsqlStart,
  kNpgsqlStop,
  kSqlClientStart,
  kSqlClientStop,
  kCount,
};

struct EventSpec {
  EventTag tag;
  Provider provider;
  uint32_t id;
  std::string_view name;  // as TraceEvent groups and names it
};

// Events of EventSources that describe themselves: their ids are given out as they are first sent.
inline constexpr uint32_t kIdByName = 0xFFFFFFFF;

// The one list of ids. Here and not in a source file, so that whoever compares ids of events, or
// asks a runtime for some of them, has them as constants (RuntimeEventId).
inline constexpr EventSpec kEventTable[] = {
    {EventTag::kAllocationTick, Provider::kRuntime, 10, "GC/AllocationTick"},
    {EventTag::kAllocationSampled, Provider::kRuntime, 303, "AllocationSampled"},
    {EventTag::kSampledObjectAllocation, Provider::kRuntime, 20, "GC/SampledObjectAllocation"},
    {EventTag::kSampledObjectAllocation, Provider::kRuntime, 32, "GC/SampledObjectAllocation"},
    {EventTag::kGcStart, Provider::kRuntime, 1, "GC/Start"},
    {EventTag::kGcEnd, Provider::kRuntime, 2, "GC/Stop"},
    {EventTag::kGcRestartEeEnd, Provider::kRuntime, 3, "GC/RestartEEStop"},
    {EventTag::kGcHeapStats, Provider::kRuntime, 4, "GC/HeapStats"},
    {EventTag::kGcCreateSegment, Provider::kRuntime, 5, "GC/CreateSegment"},
    {EventTag::kGcFreeSegment, Provider::kRuntime, 6, "GC/FreeSegment"},
    {EventTag::kGcRestartEeBegin, Provider::kRuntime, 7, "GC/RestartEEStart"},
    {EventTag::kGcSuspendEeEnd, Provider::kRuntime, 8, "GC/SuspendEEStop"},
    {EventTag::kGcSuspendEeBegin, Provider::kRuntime, 9, "GC/SuspendEEStart"},
    {EventTag::kGcFinalizersEnd, Provider::kRuntime, 13, "GC/FinalizersStop"},
    {EventTag::kGcFinalizersBegin, Provider::kRuntime, 14, "GC/FinalizersStart"},
    {EventTag::kBulkType, Provider::kRuntime, 15, "Type/BulkType"},
    {EventTag::kGcBulkSurviving, Provider::kRuntime, 21, "GC/BulkSurvivingObjectRanges"},
    {EventTag::kGcBulkMoved, Provider::kRuntime, 22, "GC/BulkMovedObjectRanges"},
    {EventTag::kGcGenerationRange, Provider::kRuntime, 23, "GC/GenerationRange"},
    {EventTag::kGcFinalizeObject, Provider::kRuntime, 29, "GC/FinalizeObject"},
    {EventTag::kGcSetHandle, Provider::kRuntime, 30, "GC/SetGCHandle"},
    {EventTag::kGcDestroyHandle, Provider::kRuntime, 31, "GC/DestroyGCHandle"},
    {EventTag::kGcPinObject, Provider::kRuntime, 33, "GC/PinObjectAtGCTime"},
    {EventTag::kGcTriggered, Provider::kRuntime, 35, "GC/Triggered"},
    {EventTag::kGcDynamic, Provider::kRuntime, 39, "GC/DynamicTraceEvent"},
    {EventTag::kGcMarkWithType, Provider::kRuntime, 202, "GC/MarkWithType"},
    {EventTag::kGcJoin, Provider::kRuntime, 203, "GC/Join"},
    {EventTag::kGcPerHeapHistory, Provider::kRuntime, 204, "GC/PerHeapHistory"},
    {EventTag::kGcGlobalHeapHistory, Provider::kRuntime, 205, "GC/GlobalHeapHistory"},
    {EventTag::kMethodDetails, Provider::kRuntime, 72, "Method/MethodDetails"},
    {EventTag::kException, Provider::kRuntime, 80, "Exception/Start"},
    {EventTag::kContentionStart, Provider::kRuntime, 81, "Contention/Start"},
    {EventTag::kContentionLockCreated, Provider::kRuntime, 90, "Contention/LockCreated"},
    {EventTag::kContentionStop, Provider::kRuntime, 91, "Contention/Stop"},
    {EventTag::kWaitStart, Provider::kRuntime, 301, "WaitHandleWait/Start"},
    {EventTag::kWaitStop, Provider::kRuntime, 302, "WaitHandleWait/Stop"},
    {EventTag::kThreadCreated, Provider::kRuntime, 85, "Thread/Created"},
    {EventTag::kMethodLoad, Provider::kRuntime, 141, "Method/Load"},
    {EventTag::kMethodUnload, Provider::kRuntime, 142, "Method/Unload"},
    {EventTag::kMethodLoadVerbose, Provider::kRuntime, 143, "Method/LoadVerbose"},
    {EventTag::kMethodUnloadVerbose, Provider::kRuntime, 144, "Method/UnloadVerbose"},
    {EventTag::kDomainModuleLoad, Provider::kRuntime, 151, "Loader/DomainModuleLoad"},
    {EventTag::kModuleLoad, Provider::kRuntime, 152, "Loader/ModuleLoad"},
    {EventTag::kModuleUnload, Provider::kRuntime, 153, "Loader/ModuleUnload"},
    {EventTag::kAssemblyLoad, Provider::kRuntime, 154, "Loader/AssemblyLoad"},
    {EventTag::kAssemblyUnload, Provider::kRuntime, 155, "Loader/AssemblyUnload"},
    {EventTag::kAppDomainLoad, Provider::kRuntime, 156, "Loader/AppDomainLoad"},
    {EventTag::kAppDomainUnload, Provider::kRuntime, 157, "Loader/AppDomainUnload"},
    {EventTag::kR2rEntryPoint, Provider::kRuntime, 159, "Method/R2RGetEntryPoint"},
    {EventTag::kR2rEntryPointStart, Provider::kRuntime, 160, "Method/R2RGetEntryPointStart"},
    {EventTag::kRuntimeStart, Provider::kRuntime, 187, "Runtime/Start"},
    {EventTag::kIlToNativeMap, Provider::kRuntime, 190, "Method/ILToNativeMap"},
    {EventTag::kGcSettings, Provider::kRundown, 10, "GC/Settings"},
    {EventTag::kMethodDcStart, Provider::kRundown, 141, "Method/DCStart"},
    {EventTag::kMethodDcEnd, Provider::kRundown, 142, "Method/DCStop"},
    {EventTag::kMethodDcStartVerbose, Provider::kRundown, 143, "Method/DCStartVerbose"},
    {EventTag::kMethodDcEndVerbose, Provider::kRundown, 144, "Method/DCStopVerbose"},
    {EventTag::kDcEndComplete, Provider::kRundown, 146, "Method/DCStopComplete"},
    {EventTag::kIlToNativeMap, Provider::kRundown, 149, "Method/ILToNativeMapDCStart"},
    {EventTag::kIlToNativeMap, Provider::kRundown, 150, "Method/ILToNativeMapDCStop"},
    {EventTag::kDomainModuleLoad, Provider::kRundown, 152, "Loader/DomainModuleDCStop"},
    {EventTag::kModuleDcStart, Provider::kRundown, 153, "Loader/ModuleDCStart"},
    {EventTag::kModuleDcEnd, Provider::kRundown, 154, "Loader/ModuleDCStop"},
    {EventTag::kAssemblyDcEnd, Provider::kRundown, 155, "Loader/AssemblyDCStart"},
    {EventTag::kAssemblyDcEnd, Provider::kRundown, 156, "Loader/AssemblyDCStop"},
    {EventTag::kAppDomainDcEnd, Provider::kRundown, 158, "Loader/AppDomainDCStop"},
    {EventTag::kRuntimeStart, Provider::kRundown, 187, "Runtime/Start"},
    {EventTag::kProcessInfo, Provider::kEventPipe, 1, "ProcessInfo"},
    {EventTag::kThreadSample, Provider::kSampleProfiler, 0, "Thread/Sample"},
    {EventTag::kUniversalCpu, Provider::kUniversalEvents, kIdByName, "cpu"},
    {EventTag::kUniversalSwitch, Provider::kUniversalEvents, kIdByName, "cswitch"},
    {EventTag::kUniversalProcess, Provider::kUniversalSystem, 0, "ExistingProcess"},
    {EventTag::kUniversalProcess, Provider::kUniversalSystem, 1, "ProcessCreate"},
    {EventTag::kUniversalExit, Provider::kUniversalSystem, 2, "ProcessExit"},
    {EventTag::kUniversalMapping, Provider::kUniversalSystem, 3, "ProcessMapping"},
    {EventTag::kUniversalSymbol, Provider::kUniversalSystem, 4, "ProcessSymbol"},
    {EventTag::kEventCounter, Provider::kSystemRuntime, kIdByName, "EventCounters"},
    {EventTag::kRequestStart, Provider::kAspNetHosting, 3, "Request/Start"},
    {EventTag::kRequestStop, Provider::kAspNetHosting, 4, "Request/Stop"},
    {EventTag::kRequestException, Provider::kAspNetHosting, 5, "UnhandledException"},
    {EventTag::kMetricsCollectionStart, Provider::kMetrics, 2, "Collection/Start"},
    {EventTag::kMetricsCollectionStop, Provider::kMetrics, 3, "Collection/Stop"},
    {EventTag::kCounterRate, Provider::kMetrics, 4, "CounterRateValuePublished"},
    {EventTag::kHistogramValue, Provider::kMetrics, 6, "HistogramValuePublished"},
    {EventTag::kMetricsLimit, Provider::kMetrics, 12, "TimeSeriesLimitReached"},
    {EventTag::kMetricsLimit, Provider::kMetrics, 13, "HistogramLimitReached"},
    {EventTag::kMetricsSharingError, Provider::kMetrics, 15, "MultipleSessionsNotSupportedError"},
    {EventTag::kMetricsSharingError, Provider::kMetrics, 17,
     "MultipleSessionsConfiguredIncorrectlyError"},
    {EventTag::kTaskScheduled, Provider::kTpl, 7, "TaskScheduled/Send"},
    {EventTag::kTaskStarted, Provider::kTpl, 8, "TaskStarted"},
    {EventTag::kTaskCompleted, Provider::kTpl, 9, "TaskCompleted"},
    {EventTag::kTaskWaitBegin, Provider::kTpl, 10, "TaskWait/Send"},
    {EventTag::kTaskWaitEnd, Provider::kTpl, 11, "TaskWait/Stop"},
    {EventTag::kAwaitScheduled, Provider::kTpl, 12, "AwaitTaskContinuationScheduled/Send"},
    {EventTag::kTaskContinued, Provider::kTpl, 13, "TaskWaitContinuationComplete"},
    {EventTag::kPoolEnqueue, Provider::kFramework, 30, "ThreadPoolEnqueueWork"},
    {EventTag::kPoolDequeue, Provider::kFramework, 31, "ThreadPoolDequeueWork"},
    {EventTag::kHttpStart, Provider::kHttpClient, 1, "Request/Start"},
    {EventTag::kHttpStop, Provider::kHttpClient, 2, "Request/Stop"},
    {EventTag::kHttpFailed, Provider::kHttpClient, 3, "RequestFailed"},
    {EventTag::kDiagnosticEvent, Provider::kDiagnostics, kIdByName, "Event"},
    {EventTag::kActivityStart, Provider::kDiagnostics, kIdByName, "ActivityStart"},
    {EventTag::kActivityStop, Provider::kDiagnostics, kIdByName, "ActivityStop"},
    {EventTag::kNpgsqlStart, Provider::kNpgsql, kIdByName, "CommandStart"},
    {EventTag::kNpgsqlStop, Provider::kNpgsql, kIdByName, "CommandStop"},
    {EventTag::kSqlClientStart, Provider::kSqlClient, 1, "ExecuteCommand/Start"},
    {EventTag::kSqlClientStop, Provider::kSqlClient, 2, "ExecuteCommand/Stop"},
};

// Not defined: who asks for the id of an event that has none does not compile.
uint32_t TheRuntimeHasNoSuchEvent();

// The id that a provider gives an event; its first one where it has several.
consteval uint32_t EventIdOf(Provider provider, EventTag tag) {
  for (const EventSpec& spec : kEventTable)
    if (spec.tag == tag && spec.provider == provider) return spec.id;
  return TheRuntimeHasNoSuchEvent();
}
consteval uint32_t RuntimeEventId(EventTag tag) { return EventIdOf(Provider::kRuntime, tag); }

// kUnknown when the table has no such event. `name`: as the stream tells it, mostly "".
EventTag FindEvent(Provider provider, uint32_t id, std::string_view name = {});
std::string_view EventName(EventTag tag);

// Keywords of Microsoft-Windows-DotNETRuntime.
namespace keyword {
inline constexpr uint64_t kGc = 0x1;
inline constexpr uint64_t kLoader = 0x8;
inline constexpr uint64_t kJit = 0x10;
inline constexpr uint64_t kNGen = 0x20;
inline constexpr uint64_t kContention = 0x4000;
inline constexpr uint64_t kIlToNativeMap = 0x20000;
inline constexpr uint64_t kException = 0x8000;
inline constexpr uint64_t kType = 0x80000;
inline constexpr uint64_t kSampledObjectHigh = 0x200000;
inline constexpr uint64_t kHeapAndTypeNames = 0x1000000;
inline constexpr uint64_t kSampledObjectLow = 0x2000000;
inline constexpr uint64_t kCompilationDiagnostic = 0x2000000000;
inline constexpr uint64_t kWaitHandle = 0x40000000000;
inline constexpr uint64_t kAllocationSampling = 0x80000000000;
}  // namespace keyword

}  // namespace clrscope::clr
