// SPDX-License-Identifier: Apache-2.0
// The profiling interfaces as the runtime has them: one vtable each for callback and info, whose
// later versions only append. Methods that the agent does not use are declared without parameters:
// they only hold their slot (the caller cleans up, so a callback may ignore its arguments). The
// order is tested against tests/agent/corprof-slots.txt.
// Source: dotnet/runtime src/coreclr/inc/corprof.idl
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/com/unknown.h"

namespace clrscope::agent {

using FunctionId = uintptr_t;
using ClassId = uintptr_t;
using ModuleId = uintptr_t;
using AssemblyId = uintptr_t;
using ObjectId = uintptr_t;
using ThreadId = uintptr_t;
using ReJitId = uintptr_t;
using FrameInfo = uintptr_t;
using EventPipeProvider = uintptr_t;
using EventPipeSession = uint64_t;
using ObjectHandle = void*;

struct EventPipeProviderConfig {
  const char16_t* name;
  uint64_t keywords;
  uint32_t level;
  const char16_t* filter;
};
// Of GetGenerationBounds; generation 3 = LOH, 4 = POH.
struct GenerationRange {
  int32_t generation;
  uintptr_t start;
  size_t length, reserved;
};
// Of GetClassLayout: a field of the type itself, none of its base's.
struct FieldOffset {
  uint32_t token;
  uint32_t offset;
};
// function 0: a run of native frames. Another result than kOk ends the walk.
using StackSnapshotCallback = HResult(FunctionId function, uintptr_t ip, FrameInfo frame,
                                      uint32_t registers_size, uint8_t* registers, void* context);

// Bits of SetEventMask2.
inline constexpr uint32_t kMonitorModuleLoads = 0x4;
inline constexpr uint32_t kMonitorObjectAllocated = 0x100;
inline constexpr uint32_t kEnableObjectAllocated = 0x800000;
inline constexpr uint32_t kEnableStackSnapshot = 0x10000000;
inline constexpr uint32_t kHighDynamicFunctionUnloads = 0x4;
inline constexpr uint32_t kHighBasicGc = 0x10;
inline constexpr uint32_t kHighEventPipe = 0x80;

inline constexpr int32_t kWeakHandle = 1;

// CORPROF_E_SUSPENSION_IN_PROGRESS: somebody else stops the runtime just now.
// Source: dotnet/runtime src/coreclr/inc/corerror.xml
inline constexpr HResult kSuspensionInProgress = static_cast<HResult>(0x80131388u);

inline constexpr Guid kCallback2Iid = {
    0x8A8CC829, 0xCCF2, 0x49fe, {0xBB, 0xAE, 0x0F, 0x02, 0x22, 0x28, 0x07, 0x1A}};
inline constexpr Guid kCallback11Iid = {
    0x42350846, 0xAAED, 0x47F7, {0xB1, 0x28, 0xFD, 0x0C, 0x98, 0x88, 0x1C, 0xDE}};
inline constexpr Guid kInfo13Iid = {
    0x6E6C7EE2, 0x0701, 0x4EC2, {0x9D, 0x29, 0x2E, 0x87, 0x33, 0xB6, 0x69, 0x34}};

// NOLINTBEGIN(readability-identifier-naming): the runtime's names

// ICorProfilerCallback … 11.
class ICorProfilerCallback : public IUnknown {
 public:
  virtual HResult Initialize(IUnknown* info) = 0;
  virtual HResult Shutdown() = 0;
  virtual HResult AppDomainCreationStarted() = 0;
  virtual HResult AppDomainCreationFinished() = 0;
  virtual HResult AppDomainShutdownStarted() = 0;
  virtual HResult AppDomainShutdownFinished() = 0;
  virtual HResult AssemblyLoadStarted() = 0;
  virtual HResult AssemblyLoadFinished() = 0;
  virtual HResult AssemblyUnloadStarted() = 0;
  virtual HResult AssemblyUnloadFinished() = 0;
  virtual HResult ModuleLoadStarted() = 0;
  virtual HResult ModuleLoadFinished() = 0;
  virtual HResult ModuleUnloadStarted(ModuleId module) = 0;
  virtual HResult ModuleUnloadFinished() = 0;
  virtual HResult ModuleAttachedToAssembly() = 0;
  virtual HResult ClassLoadStarted() = 0;
  virtual HResult ClassLoadFinished() = 0;
  virtual HResult ClassUnloadStarted() = 0;
  virtual HResult ClassUnloadFinished() = 0;
  virtual HResult FunctionUnloadStarted() = 0;
  virtual HResult JITCompilationStarted() = 0;
  virtual HResult JITCompilationFinished() = 0;
  virtual HResult JITCachedFunctionSearchStarted() = 0;
  virtual HResult JITCachedFunctionSearchFinished() = 0;
  virtual HResult JITFunctionPitched() = 0;
  virtual HResult JITInlining() = 0;
  virtual HResult ThreadCreated() = 0;
  virtual HResult ThreadDestroyed() = 0;
  virtual HResult ThreadAssignedToOSThread() = 0;
  virtual HResult RemotingClientInvocationStarted() = 0;
  virtual HResult RemotingClientSendingMessage() = 0;
  virtual HResult RemotingClientReceivingReply() = 0;
  virtual HResult RemotingClientInvocationFinished() = 0;
  virtual HResult RemotingServerReceivingMessage() = 0;
  virtual HResult RemotingServerInvocationStarted() = 0;
  virtual HResult RemotingServerInvocationReturned() = 0;
  virtual HResult RemotingServerSendingReply() = 0;
  virtual HResult UnmanagedToManagedTransition() = 0;
  virtual HResult ManagedToUnmanagedTransition() = 0;
  virtual HResult RuntimeSuspendStarted() = 0;
  virtual HResult RuntimeSuspendFinished() = 0;
  virtual HResult RuntimeSuspendAborted() = 0;
  virtual HResult RuntimeResumeStarted() = 0;
  virtual HResult RuntimeResumeFinished() = 0;
  virtual HResult RuntimeThreadSuspended() = 0;
  virtual HResult RuntimeThreadResumed() = 0;
  virtual HResult MovedReferences() = 0;
  virtual HResult ObjectAllocated(ObjectId object, ClassId type) = 0;
  virtual HResult ObjectsAllocatedByClass() = 0;
  virtual HResult ObjectReferences() = 0;
  virtual HResult RootReferences() = 0;
  virtual HResult ExceptionThrown() = 0;
  virtual HResult ExceptionSearchFunctionEnter() = 0;
  virtual HResult ExceptionSearchFunctionLeave() = 0;
  virtual HResult ExceptionSearchFilterEnter() = 0;
  virtual HResult ExceptionSearchFilterLeave() = 0;
  virtual HResult ExceptionSearchCatcherFound() = 0;
  virtual HResult ExceptionOSHandlerEnter() = 0;
  virtual HResult ExceptionOSHandlerLeave() = 0;
  virtual HResult ExceptionUnwindFunctionEnter() = 0;
  virtual HResult ExceptionUnwindFunctionLeave() = 0;
  virtual HResult ExceptionUnwindFinallyEnter() = 0;
  virtual HResult ExceptionUnwindFinallyLeave() = 0;
  virtual HResult ExceptionCatcherEnter() = 0;
  virtual HResult ExceptionCatcherLeave() = 0;
  virtual HResult COMClassicVTableCreated() = 0;
  virtual HResult COMClassicVTableDestroyed() = 0;
  virtual HResult ExceptionCLRCatcherFound() = 0;
  virtual HResult ExceptionCLRCatcherExecute() = 0;
  virtual HResult ThreadNameChanged() = 0;
  virtual HResult GarbageCollectionStarted() = 0;
  virtual HResult SurvivingReferences() = 0;
  virtual HResult GarbageCollectionFinished() = 0;
  virtual HResult FinalizeableObjectQueued() = 0;
  virtual HResult RootReferences2() = 0;
  virtual HResult HandleCreated() = 0;
  virtual HResult HandleDestroyed() = 0;
  virtual HResult InitializeForAttach(IUnknown* info, void* client_data,
                                      uint32_t client_data_size) = 0;
  virtual HResult ProfilerAttachComplete() = 0;
  virtual HResult ProfilerDetachSucceeded() = 0;
  virtual HResult ReJITCompilationStarted() = 0;
  virtual HResult GetReJITParameters() = 0;
  virtual HResult ReJITCompilationFinished() = 0;
  virtual HResult ReJITError() = 0;
  virtual HResult MovedReferences2() = 0;
  virtual HResult SurvivingReferences2() = 0;
  virtual HResult ConditionalWeakTableElementReferences() = 0;
  virtual HResult GetAssemblyReferences() = 0;
  virtual HResult ModuleInMemorySymbolsUpdated() = 0;
  virtual HResult DynamicMethodJITCompilationStarted() = 0;
  virtual HResult DynamicMethodJITCompilationFinished() = 0;
  virtual HResult DynamicMethodUnloaded(FunctionId function) = 0;
  virtual HResult EventPipeEventDelivered(EventPipeProvider provider, uint32_t event_id,
                                          uint32_t event_version, uint32_t metadata_size,
                                          const uint8_t* metadata, uint32_t data_size,
                                          const uint8_t* data, const Guid* activity,
                                          const Guid* related_activity, ThreadId event_thread,
                                          uint32_t frame_count, uintptr_t* frames) = 0;
  virtual HResult EventPipeProviderCreated() = 0;
  virtual HResult LoadAsNotificationOnly(int32_t* notification_only) = 0;
};

// ICorProfilerInfo … 14.
class ICorProfilerInfo : public IUnknown {
 public:
  virtual HResult GetClassFromObject() = 0;
  virtual HResult GetClassFromToken() = 0;
  virtual HResult GetCodeInfo() = 0;
  virtual HResult GetEventMask() = 0;
  virtual HResult GetFunctionFromIP() = 0;
  virtual HResult GetFunctionFromToken() = 0;
  virtual HResult GetHandleFromThread() = 0;
  virtual HResult GetObjectSize() = 0;
  virtual HResult IsArrayClass(ClassId type, uint32_t* element_kind, ClassId* element,
                               uint32_t* rank) = 0;
  virtual HResult GetThreadInfo() = 0;
  virtual HResult GetCurrentThreadID() = 0;
  virtual HResult GetClassIDInfo() = 0;
  virtual HResult GetFunctionInfo() = 0;
  virtual HResult SetEventMask() = 0;
  virtual HResult SetEnterLeaveFunctionHooks() = 0;
  virtual HResult SetFunctionIDMapper() = 0;
  virtual HResult GetTokenAndMetaDataFromFunction() = 0;
  virtual HResult GetModuleInfo() = 0;
  virtual HResult GetModuleMetaData(ModuleId module, uint32_t open_flags, const Guid& iid,
                                    IUnknown** out) = 0;
  virtual HResult GetILFunctionBody(ModuleId module, uint32_t token, const uint8_t** body,
                                    uint32_t* size) = 0;
  virtual HResult GetILFunctionBodyAllocator() = 0;
  virtual HResult SetILFunctionBody() = 0;
  virtual HResult GetAppDomainInfo() = 0;
  virtual HResult GetAssemblyInfo(AssemblyId assembly, uint32_t capacity, uint32_t* length,
                                  char16_t* name, uintptr_t* domain, ModuleId* manifest) = 0;
  virtual HResult SetFunctionReJIT() = 0;
  virtual HResult ForceGC() = 0;
  virtual HResult SetILInstrumentedCodeMap() = 0;
  virtual HResult GetInprocInspectionInterface() = 0;
  virtual HResult GetInprocInspectionIThisThread() = 0;
  virtual HResult GetThreadContext() = 0;
  virtual HResult BeginInprocDebugging() = 0;
  virtual HResult EndInprocDebugging() = 0;
  virtual HResult GetILToNativeMapping() = 0;
  virtual HResult DoStackSnapshot(ThreadId thread, StackSnapshotCallback* callback, uint32_t flags,
                                  void* context, uint8_t* registers, uint32_t registers_size) = 0;
  virtual HResult SetEnterLeaveFunctionHooks2() = 0;
  virtual HResult GetFunctionInfo2(FunctionId function, FrameInfo frame, ClassId* type,
                                   ModuleId* module, uint32_t* token, uint32_t capacity,
                                   uint32_t* count, ClassId* arguments) = 0;
  virtual HResult GetStringLayout() = 0;
  virtual HResult GetClassLayout(ClassId type, FieldOffset* fields, uint32_t capacity,
                                 uint32_t* count, uint32_t* size) = 0;
  virtual HResult GetClassIDInfo2(ClassId type, ModuleId* module, uint32_t* token, ClassId* parent,
                                  uint32_t capacity, uint32_t* count, ClassId* arguments) = 0;
  virtual HResult GetCodeInfo2() = 0;
  virtual HResult GetClassFromTokenAndTypeArgs() = 0;
  virtual HResult GetFunctionFromTokenAndTypeArgs() = 0;
  virtual HResult EnumModuleFrozenObjects() = 0;
  virtual HResult GetArrayObjectInfo() = 0;
  virtual HResult GetBoxClassLayout() = 0;
  virtual HResult GetThreadAppDomain() = 0;
  virtual HResult GetRVAStaticAddress() = 0;
  virtual HResult GetAppDomainStaticAddress() = 0;
  virtual HResult GetThreadStaticAddress() = 0;
  virtual HResult GetContextStaticAddress() = 0;
  virtual HResult GetStaticFieldInfo() = 0;
  virtual HResult GetGenerationBounds(uint32_t capacity, uint32_t* count,
                                      GenerationRange* ranges) = 0;
  virtual HResult GetObjectGeneration() = 0;
  virtual HResult GetNotifiedExceptionClauseInfo() = 0;
  virtual HResult EnumJITedFunctions() = 0;
  virtual HResult RequestProfilerDetach(uint32_t expected_ms) = 0;
  virtual HResult SetFunctionIDMapper2() = 0;
  virtual HResult GetStringLayout2() = 0;
  virtual HResult SetEnterLeaveFunctionHooks3() = 0;
  virtual HResult SetEnterLeaveFunctionHooks3WithInfo() = 0;
  virtual HResult GetFunctionEnter3Info() = 0;
  virtual HResult GetFunctionLeave3Info() = 0;
  virtual HResult GetFunctionTailcall3Info() = 0;
  virtual HResult EnumModules() = 0;
  virtual HResult GetRuntimeInformation(uint16_t* instance, int32_t* kind, uint16_t* major,
                                        uint16_t* minor, uint16_t* build, uint16_t* qfe,
                                        uint32_t capacity, uint32_t* length, char16_t* version) = 0;
  virtual HResult GetThreadStaticAddress2() = 0;
  virtual HResult GetAppDomainsContainingModule() = 0;
  virtual HResult GetModuleInfo2(ModuleId module, const uint8_t** base, uint32_t capacity,
                                 uint32_t* length, char16_t* name, AssemblyId* assembly,
                                 uint32_t* flags) = 0;
  virtual HResult EnumThreads() = 0;
  virtual HResult InitializeCurrentThread() = 0;
  virtual HResult RequestReJIT() = 0;
  virtual HResult RequestRevert() = 0;
  virtual HResult GetCodeInfo3() = 0;
  virtual HResult GetFunctionFromIP2() = 0;
  virtual HResult GetReJITIDs(FunctionId function, uint32_t capacity, uint32_t* count,
                              ReJitId* ids) = 0;
  virtual HResult GetILToNativeMapping2() = 0;
  virtual HResult EnumJITedFunctions2() = 0;
  virtual HResult GetObjectSize2(ObjectId object, size_t* size) = 0;
  virtual HResult GetEventMask2() = 0;
  virtual HResult SetEventMask2(uint32_t low, uint32_t high) = 0;
  virtual HResult EnumNgenModuleMethodsInliningThisMethod() = 0;
  virtual HResult ApplyMetaData() = 0;
  virtual HResult GetInMemorySymbolsLength() = 0;
  virtual HResult ReadInMemorySymbols() = 0;
  virtual HResult IsFunctionDynamic(FunctionId function, int32_t* dynamic) = 0;
  virtual HResult GetFunctionFromIP3(const uint8_t* ip, FunctionId* function, ReJitId* rejit) = 0;
  virtual HResult GetDynamicFunctionInfo(FunctionId function, ModuleId* module,
                                         const uint8_t** signature, uint32_t* signature_size,
                                         uint32_t capacity, uint32_t* length, char16_t* name) = 0;
  virtual HResult GetNativeCodeStartAddresses(FunctionId function, ReJitId rejit, uint32_t capacity,
                                              uint32_t* count, uintptr_t* starts) = 0;
  virtual HResult GetILToNativeMapping3() = 0;
  virtual HResult GetCodeInfo4() = 0;
  virtual HResult EnumerateObjectReferences() = 0;
  virtual HResult IsFrozenObject() = 0;
  virtual HResult GetLOHObjectSizeThreshold() = 0;
  virtual HResult RequestReJITWithInliners() = 0;
  virtual HResult SuspendRuntime() = 0;
  virtual HResult ResumeRuntime() = 0;
  virtual HResult GetEnvironmentVariable() = 0;
  virtual HResult SetEnvironmentVariable() = 0;
  virtual HResult EventPipeStartSession(uint32_t count, EventPipeProviderConfig* providers,
                                        int32_t rundown, EventPipeSession* session) = 0;
  virtual HResult EventPipeAddProviderToSession() = 0;
  virtual HResult EventPipeStopSession(EventPipeSession session) = 0;
  virtual HResult EventPipeCreateProvider() = 0;
  virtual HResult EventPipeGetProviderInfo() = 0;
  virtual HResult EventPipeDefineEvent() = 0;
  virtual HResult EventPipeWriteEvent() = 0;
  virtual HResult CreateHandle(ObjectId object, int32_t kind, ObjectHandle* handle) = 0;
  virtual HResult DestroyHandle(ObjectHandle handle) = 0;
  virtual HResult GetObjectIDFromHandle(ObjectHandle handle, ObjectId* object) = 0;
  virtual HResult EnumerateNonGCObjects() = 0;
  virtual HResult GetNonGCHeapBounds() = 0;
  virtual HResult EventPipeCreateProvider2() = 0;
  virtual HResult EnumerateGCHeapObjects() = 0;
};

// NOLINTEND(readability-identifier-naming)

}  // namespace clrscope::agent
