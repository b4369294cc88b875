// SPDX-License-Identifier: Apache-2.0
#include "clr/event_table.h"

namespace clrscope::clr {
namespace {

constexpr auto kR = Provider::kRuntime;
constexpr auto kD = Provider::kRundown;

constexpr EventSpec kTable[] = {
    {EventTag::kAllocationTick, kR, 10, "GC/AllocationTick"},
    {EventTag::kAllocationSampled, kR, 303, "AllocationSampled"},
    {EventTag::kSampledObjectAllocation, kR, 20, "GC/SampledObjectAllocation"},
    {EventTag::kSampledObjectAllocation, kR, 32, "GC/SampledObjectAllocation"},
    {EventTag::kGcStart, kR, 1, "GC/Start"},
    {EventTag::kGcEnd, kR, 2, "GC/Stop"},
    {EventTag::kGcRestartEeEnd, kR, 3, "GC/RestartEEStop"},
    {EventTag::kGcHeapStats, kR, 4, "GC/HeapStats"},
    {EventTag::kGcCreateSegment, kR, 5, "GC/CreateSegment"},
    {EventTag::kGcFreeSegment, kR, 6, "GC/FreeSegment"},
    {EventTag::kGcRestartEeBegin, kR, 7, "GC/RestartEEStart"},
    {EventTag::kGcSuspendEeEnd, kR, 8, "GC/SuspendEEStop"},
    {EventTag::kGcSuspendEeBegin, kR, 9, "GC/SuspendEEStart"},
    {EventTag::kGcFinalizersEnd, kR, 13, "GC/FinalizersStop"},
    {EventTag::kGcFinalizersBegin, kR, 14, "GC/FinalizersStart"},
    {EventTag::kBulkType, kR, 15, "Type/BulkType"},
    {EventTag::kGcBulkSurviving, kR, 21, "GC/BulkSurvivingObjectRanges"},
    {EventTag::kGcBulkMoved, kR, 22, "GC/BulkMovedObjectRanges"},
    {EventTag::kGcGenerationRange, kR, 23, "GC/GenerationRange"},
    {EventTag::kGcFinalizeObject, kR, 29, "GC/FinalizeObject"},
    {EventTag::kGcSetHandle, kR, 30, "GC/SetGCHandle"},
    {EventTag::kGcDestroyHandle, kR, 31, "GC/DestroyGCHandle"},
    {EventTag::kGcPinObject, kR, 33, "GC/PinObjectAtGCTime"},
    {EventTag::kGcTriggered, kR, 35, "GC/Triggered"},
    {EventTag::kGcDynamic, kR, 39, "GC/DynamicTraceEvent"},
    {EventTag::kGcMarkWithType, kR, 202, "GC/MarkWithType"},
    {EventTag::kGcJoin, kR, 203, "GC/Join"},
    {EventTag::kGcPerHeapHistory, kR, 204, "GC/PerHeapHistory"},
    {EventTag::kGcGlobalHeapHistory, kR, 205, "GC/GlobalHeapHistory"},
    {EventTag::kMethodDetails, kR, 72, "Method/MethodDetails"},
    {EventTag::kException, kR, 80, "Exception/Start"},
    {EventTag::kContentionStart, kR, 81, "Contention/Start"},
    {EventTag::kContentionLockCreated, kR, 90, "Contention/LockCreated"},
    {EventTag::kContentionStop, kR, 91, "Contention/Stop"},
    {EventTag::kThreadCreated, kR, 85, "Thread/Created"},
    {EventTag::kMethodLoad, kR, 141, "Method/Load"},
    {EventTag::kMethodUnload, kR, 142, "Method/Unload"},
    {EventTag::kMethodLoadVerbose, kR, 143, "Method/LoadVerbose"},
    {EventTag::kMethodUnloadVerbose, kR, 144, "Method/UnloadVerbose"},
    {EventTag::kDomainModuleLoad, kR, 151, "Loader/DomainModuleLoad"},
    {EventTag::kModuleLoad, kR, 152, "Loader/ModuleLoad"},
    {EventTag::kModuleUnload, kR, 153, "Loader/ModuleUnload"},
    {EventTag::kAssemblyLoad, kR, 154, "Loader/AssemblyLoad"},
    {EventTag::kAssemblyUnload, kR, 155, "Loader/AssemblyUnload"},
    {EventTag::kAppDomainLoad, kR, 156, "Loader/AppDomainLoad"},
    {EventTag::kAppDomainUnload, kR, 157, "Loader/AppDomainUnload"},
    {EventTag::kR2rEntryPoint, kR, 159, "Method/R2RGetEntryPoint"},
    {EventTag::kR2rEntryPointStart, kR, 160, "Method/R2RGetEntryPointStart"},
    {EventTag::kRuntimeStart, kR, 187, "Runtime/Start"},
    {EventTag::kIlToNativeMap, kR, 190, "Method/ILToNativeMap"},
    {EventTag::kGcSettings, kD, 10, "GC/Settings"},
    {EventTag::kMethodDcStart, kD, 141, "Method/DCStart"},
    {EventTag::kMethodDcEnd, kD, 142, "Method/DCStop"},
    {EventTag::kMethodDcStartVerbose, kD, 143, "Method/DCStartVerbose"},
    {EventTag::kMethodDcEndVerbose, kD, 144, "Method/DCStopVerbose"},
    {EventTag::kDcEndComplete, kD, 146, "Method/DCStopComplete"},
    {EventTag::kIlToNativeMap, kD, 149, "Method/ILToNativeMapDCStart"},
    {EventTag::kIlToNativeMap, kD, 150, "Method/ILToNativeMapDCStop"},
    {EventTag::kDomainModuleLoad, kD, 152, "Loader/DomainModuleDCStop"},
    {EventTag::kModuleDcStart, kD, 153, "Loader/ModuleDCStart"},
    {EventTag::kModuleDcEnd, kD, 154, "Loader/ModuleDCStop"},
    {EventTag::kAssemblyDcEnd, kD, 155, "Loader/AssemblyDCStart"},
    {EventTag::kAssemblyDcEnd, kD, 156, "Loader/AssemblyDCStop"},
    {EventTag::kAppDomainDcEnd, kD, 158, "Loader/AppDomainDCStop"},
    {EventTag::kRuntimeStart, kD, 187, "Runtime/Start"},
    {EventTag::kProcessInfo, Provider::kEventPipe, 1, "ProcessInfo"},
};

}  // namespace

Provider ProviderFromName(std::string_view name) {
  if (name == kRuntimeProvider) return Provider::kRuntime;
  if (name == kRundownProvider) return Provider::kRundown;
  if (name == kEventPipeProvider) return Provider::kEventPipe;
  if (name == kSampleProfilerProvider) return Provider::kSampleProfiler;
  return Provider::kOther;
}

std::span<const EventSpec> EventTable() { return kTable; }

EventTag FindEvent(Provider provider, uint32_t id) {
  for (const EventSpec& spec : kTable)
    if (spec.provider == provider && spec.id == id) return spec.tag;
  return EventTag::kUnknown;
}

std::string_view EventName(EventTag tag) {
  for (const EventSpec& spec : kTable)
    if (spec.tag == tag) return spec.name;
  return {};
}

}  // namespace clrscope::clr
