// SPDX-License-Identifier: Apache-2.0
// A runtime that answers nothing: tests override what they need.
#pragma once

#include "agent/com/corprof.h"

namespace clrscope::agent {

// NOLINTBEGIN(readability-identifier-naming): the runtime's names
class DeafInfo : public ICorProfilerInfo {
 public:
  virtual ~DeafInfo() = default;
  HResult QueryInterface(const Guid&, void** out) override {
    *out = this;
    return kOk;
  }
  uint32_t AddRef() override { return 2; }
  uint32_t Release() override { return 1; }
  HResult GetClassFromObject() override { return kFail; }
  HResult GetClassFromToken() override { return kFail; }
  HResult GetCodeInfo() override { return kFail; }
  HResult GetEventMask() override { return kFail; }
  HResult GetFunctionFromIP() override { return kFail; }
  HResult GetFunctionFromToken() override { return kFail; }
  HResult GetHandleFromThread() override { return kFail; }
  HResult GetObjectSize() override { return kFail; }
  HResult IsArrayClass(ClassId, uint32_t*, ClassId*, uint32_t*) override { return kFail; }
  HResult GetThreadInfo() override { return kFail; }
  HResult GetCurrentThreadID() override { return kFail; }
  HResult GetClassIDInfo() override { return kFail; }
  HResult GetFunctionInfo() override { return kFail; }
  HResult SetEventMask() override { return kFail; }
  HResult SetEnterLeaveFunctionHooks() override { return kFail; }
  HResult SetFunctionIDMapper() override { return kFail; }
  HResult GetTokenAndMetaDataFromFunction() override { return kFail; }
  HResult GetModuleInfo() override { return kFail; }
  HResult GetModuleMetaData(ModuleId, uint32_t, const Guid&, IUnknown**) override { return kFail; }
  HResult GetILFunctionBody(ModuleId, uint32_t, const uint8_t**, uint32_t*) override {
    return kFail;
  }
  HResult GetILFunctionBodyAllocator() override { return kFail; }
  HResult SetILFunctionBody() override { return kFail; }
  HResult GetAppDomainInfo() override { return kFail; }
  HResult GetAssemblyInfo(AssemblyId, uint32_t, uint32_t*, char16_t*, uintptr_t*,
                          ModuleId*) override {
    return kFail;
  }
  HResult SetFunctionReJIT() override { return kFail; }
  HResult ForceGC() override { return kFail; }
  HResult SetILInstrumentedCodeMap() override { return kFail; }
  HResult GetInprocInspectionInterface() override { return kFail; }
  HResult GetInprocInspectionIThisThread() override { return kFail; }
  HResult GetThreadContext() override { return kFail; }
  HResult BeginInprocDebugging() override { return kFail; }
  HResult EndInprocDebugging() override { return kFail; }
  HResult GetILToNativeMapping() override { return kFail; }
  HResult DoStackSnapshot(ThreadId, StackSnapshotCallback*, uint32_t, void*, uint8_t*,
                          uint32_t) override {
    return kFail;
  }
  HResult SetEnterLeaveFunctionHooks2() override { return kFail; }
  HResult GetFunctionInfo2(FunctionId, FrameInfo, ClassId*, ModuleId*, uint32_t*, uint32_t,
                           uint32_t*, ClassId*) override {
    return kFail;
  }
  HResult GetStringLayout() override { return kFail; }
  HResult GetClassLayout(ClassId, FieldOffset*, uint32_t, uint32_t*, uint32_t*) override {
    return kFail;
  }
  HResult GetClassIDInfo2(ClassId, ModuleId*, uint32_t*, ClassId*, uint32_t, uint32_t*,
                          ClassId*) override {
    return kFail;
  }
  HResult GetCodeInfo2() override { return kFail; }
  HResult GetClassFromTokenAndTypeArgs() override { return kFail; }
  HResult GetFunctionFromTokenAndTypeArgs() override { return kFail; }
  HResult EnumModuleFrozenObjects() override { return kFail; }
  HResult GetArrayObjectInfo() override { return kFail; }
  HResult GetBoxClassLayout() override { return kFail; }
  HResult GetThreadAppDomain() override { return kFail; }
  HResult GetRVAStaticAddress() override { return kFail; }
  HResult GetAppDomainStaticAddress() override { return kFail; }
  HResult GetThreadStaticAddress() override { return kFail; }
  HResult GetContextStaticAddress() override { return kFail; }
  HResult GetStaticFieldInfo() override { return kFail; }
  HResult GetGenerationBounds(uint32_t, uint32_t*, GenerationRange*) override { return kFail; }
  HResult GetObjectGeneration() override { return kFail; }
  HResult GetNotifiedExceptionClauseInfo() override { return kFail; }
  HResult EnumJITedFunctions() override { return kFail; }
  HResult RequestProfilerDetach(uint32_t) override { return kFail; }
  HResult SetFunctionIDMapper2() override { return kFail; }
  HResult GetStringLayout2() override { return kFail; }
  HResult SetEnterLeaveFunctionHooks3() override { return kFail; }
  HResult SetEnterLeaveFunctionHooks3WithInfo() override { return kFail; }
  HResult GetFunctionEnter3Info() override { return kFail; }
  HResult GetFunctionLeave3Info() override { return kFail; }
  HResult GetFunctionTailcall3Info() override { return kFail; }
  HResult EnumModules() override { return kFail; }
  HResult GetRuntimeInformation(uint16_t*, int32_t*, uint16_t*, uint16_t*, uint16_t*, uint16_t*,
                                uint32_t, uint32_t*, char16_t*) override {
    return kFail;
  }
  HResult GetThreadStaticAddress2() override { return kFail; }
  HResult GetAppDomainsContainingModule() override { return kFail; }
  HResult GetModuleInfo2(ModuleId, const uint8_t**, uint32_t, uint32_t*, char16_t*, AssemblyId*,
                         uint32_t*) override {
    return kFail;
  }
  HResult EnumThreads() override { return kFail; }
  HResult InitializeCurrentThread() override { return kFail; }
  HResult RequestReJIT() override { return kFail; }
  HResult RequestRevert() override { return kFail; }
  HResult GetCodeInfo3() override { return kFail; }
  HResult GetFunctionFromIP2() override { return kFail; }
  HResult GetReJITIDs(FunctionId, uint32_t, uint32_t*, ReJitId*) override { return kFail; }
  HResult GetILToNativeMapping2() override { return kFail; }
  HResult EnumJITedFunctions2() override { return kFail; }
  HResult GetObjectSize2(ObjectId, size_t*) override { return kFail; }
  HResult GetEventMask2() override { return kFail; }
  HResult SetEventMask2(uint32_t, uint32_t) override { return kFail; }
  HResult EnumNgenModuleMethodsInliningThisMethod() override { return kFail; }
  HResult ApplyMetaData() override { return kFail; }
  HResult GetInMemorySymbolsLength() override { return kFail; }
  HResult ReadInMemorySymbols() override { return kFail; }
  HResult IsFunctionDynamic(FunctionId, int32_t*) override { return kFail; }
  HResult GetFunctionFromIP3(const uint8_t*, FunctionId*, ReJitId*) override { return kFail; }
  HResult GetDynamicFunctionInfo(FunctionId, ModuleId*, const uint8_t**, uint32_t*, uint32_t,
                                 uint32_t*, char16_t*) override {
    return kFail;
  }
  HResult GetNativeCodeStartAddresses(FunctionId, ReJitId, uint32_t, uint32_t*,
                                      uintptr_t*) override {
    return kFail;
  }
  HResult GetILToNativeMapping3() override { return kFail; }
  HResult GetCodeInfo4() override { return kFail; }
  HResult EnumerateObjectReferences() override { return kFail; }
  HResult IsFrozenObject() override { return kFail; }
  HResult GetLOHObjectSizeThreshold() override { return kFail; }
  HResult RequestReJITWithInliners() override { return kFail; }
  HResult SuspendRuntime() override { return kFail; }
  HResult ResumeRuntime() override { return kFail; }
  HResult GetEnvironmentVariable() override { return kFail; }
  HResult SetEnvironmentVariable() override { return kFail; }
  HResult EventPipeStartSession(uint32_t, EventPipeProviderConfig*, int32_t,
                                EventPipeSession*) override {
    return kFail;
  }
  HResult EventPipeAddProviderToSession() override { return kFail; }
  HResult EventPipeStopSession(EventPipeSession) override { return kFail; }
  HResult EventPipeCreateProvider() override { return kFail; }
  HResult EventPipeGetProviderInfo() override { return kFail; }
  HResult EventPipeDefineEvent() override { return kFail; }
  HResult EventPipeWriteEvent() override { return kFail; }
  HResult CreateHandle(ObjectId, int32_t, ObjectHandle*) override { return kFail; }
  HResult DestroyHandle(ObjectHandle) override { return kFail; }
  HResult GetObjectIDFromHandle(ObjectHandle, ObjectId*) override { return kFail; }
  HResult EnumerateNonGCObjects() override { return kFail; }
  HResult GetNonGCHeapBounds() override { return kFail; }
  HResult EventPipeCreateProvider2() override { return kFail; }
  HResult EnumerateGCHeapObjects() override { return kFail; }
};
// NOLINTEND(readability-identifier-naming)

}  // namespace clrscope::agent
