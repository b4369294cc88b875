// SPDX-License-Identifier: Apache-2.0
// The table of events that clrscope understands: one row names an event, its provider and id.
// To add an event: a tag and a row here, a struct and Decode() in the header of its family.
// Source: dotnet/runtime src/coreclr/vm/ClrEtwAll.man
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace clrscope::clr {

enum class Provider : uint8_t {
  kOther,
  kRuntime,         // Microsoft-Windows-DotNETRuntime
  kRundown,         // Microsoft-Windows-DotNETRuntimeRundown
  kEventPipe,       // Microsoft-DotNETCore-EventPipe
  kSampleProfiler,  // Microsoft-DotNETCore-SampleProfiler
};
inline constexpr std::string_view kRuntimeProvider = "Microsoft-Windows-DotNETRuntime";
inline constexpr std::string_view kRundownProvider = "Microsoft-Windows-DotNETRuntimeRundown";
inline constexpr std::string_view kEventPipeProvider = "Microsoft-DotNETCore-EventPipe";
inline constexpr std::string_view kSampleProfilerProvider = "Microsoft-DotNETCore-SampleProfiler";
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
  kThreadCreated,
  kProcessInfo,
  kCount,
};

struct EventSpec {
  EventTag tag;
  Provider provider;
  uint32_t id;
  std::string_view name;  // as TraceEvent groups and names it
};

std::span<const EventSpec> EventTable();
// kUnknown when the table has no such event.
EventTag FindEvent(Provider provider, uint32_t id);
std::string_view EventName(EventTag tag);

// Keywords of Microsoft-Windows-DotNETRuntime.
namespace keyword {
inline constexpr uint64_t kGc = 0x1;
inline constexpr uint64_t kLoader = 0x8;
inline constexpr uint64_t kJit = 0x10;
inline constexpr uint64_t kNGen = 0x20;
inline constexpr uint64_t kType = 0x80000;
inline constexpr uint64_t kSampledObjectHigh = 0x200000;
inline constexpr uint64_t kHeapAndTypeNames = 0x1000000;
inline constexpr uint64_t kSampledObjectLow = 0x2000000;
inline constexpr uint64_t kCompilationDiagnostic = 0x2000000000;
inline constexpr uint64_t kAllocationSampling = 0x80000000000;
}  // namespace keyword

}  // namespace clrscope::clr
