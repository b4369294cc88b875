// SPDX-License-Identifier: Apache-2.0
// A runtime that answers nothing: tests override what they need.
#pragma once

#include "agent/com/corprof.h"
#include "agent/testing/failing_calls.h"

namespace clrscope::agent {

// NOLINTBEGIN(readability-identifier-naming): the runtime's names
class DeafInfo : public ICorProfilerInfo, protected FailingCalls {
 public:
  virtual ~DeafInfo() = default;
  HResult QueryInterface(const Guid&, void** out) override {
    *out = this;
    return kOk;
  }
  uint32_t AddRef() override { return 2; }
  uint32_t Release() override { return 1; }
  HResult GetClassFromObject() override { return Fail(); }
  HResult GetClassFromToken() override { return Fail(); }
  HResult GetCodeInfo() override { return Fail(); }
  HResult GetEventMask() override { return Fail(); }
  HResult GetFunctionFromIP() override { return Fail(); }
  HResult GetFunctionFromToken() override { return Fail(); }
  HResult GetHandleFromThread() override { return Fail(); }
  HResult GetObjectSize() override { return Fail(); }
  HResult IsArrayClass(ClassId, uint32_t*, ClassId*, uint32_t*) override { return Fail(); }
  HResult GetThreadInfo() override { return Fail(); }
  HResult GetCurrentThreadID() override { return Fail(); }
  HResult GetClassIDInfo() override { return Fail(); }
  HResult GetFunctionInfo() override { return Fail(); }
  HResult SetEventMask() override { return Fail(); }
  HResult SetEnterLeaveFunctionHooks() override { return Fail(); }
  HResult SetFunctionIDMapper() override { return Fail(); }
  HResult GetTokenAndMetaDataFromFunction() override { return Fail(); }
  HResult GetModuleInfo() override { return Fail(); }
  HResult GetModuleMetaData(ModuleId, uint32_t, const Guid&, IUnknown**) override { return Fail(); }
  HResult GetILFunctionBody(ModuleId, uint32_t, const uint8_t**, uint32_t*) override {
    return Fail();
  }
  HResult GetILFunctionBodyAllocator() override { return Fail(); }
  HResult SetILFunctionBody() override { return Fail(); }
  HResult GetAppDomainInfo() override { return Fail(); }
  HResult GetAssemblyInfo(AssemblyId, uint32_t, uint32_t*, char16_t*, uintptr_t*,
                          ModuleId*) override {
    return Fail();
  }
  HResult SetFunctionReJIT() override { return Fail(); }
  HResult ForceGC() override { return Fail(); }
  HResult SetILInstrumentedCodeMap() override { return Fail(); }
  HResult GetInprocInspectionInterface() override { return Fail(); }
  HResult GetInprocInspectionIThisThread() override { return Fail(); }
  HResult GetThreadContext() override { return Fail(); }
  HResult BeginInprocDebugging() override { return Fail(); }
  HResult EndInprocDebugging() override { return Fail(); }
  HResult GetILToNativeMapping() override { return Fail(); }
  HResult DoStackSnapshot(ThreadId, StackSnapshotCallback*, uint32_t, void*, uint8_t*,
                          uint32_t) override {
    return Fail();
  }
  HResult SetEnterLeaveFunctionHooks2() override { return Fail(); }
  HResult GetFunctionInfo2(FunctionId, FrameInfo, ClassId*, ModuleId*, uint32_t*, uint32_t,
                           uint32_t*, ClassId*) override {
    return Fail();
  }
  HResult GetStringLayout() override { return Fail(); }
  HResult GetClassLayout(ClassId, FieldOffset*, uint32_t, uint32_t*, uint32_t*) override {
    return Fail();
  }
  HResult GetClassIDInfo2(ClassId, ModuleId*, uint32_t*, ClassId*, uint32_t, uint32_t*,
                          ClassId*) override {
    return Fail();
  }
  HResult GetCodeInfo2() override { return Fail(); }
  HResult GetClassFromTokenAndTypeArgs() override { return Fail(); }
  HResult GetFunctionFromTokenAndTypeArgs() override { return Fail(); }
  HResult EnumModuleFrozenObjects() override { return Fail(); }
  HResult GetArrayObjectInfo() override { return Fail(); }
  HResult GetBoxClassLayout() override { return Fail(); }
  HResult GetThreadAppDomain() override { return Fail(); }
  HResult GetRVAStaticAddress() override { return Fail(); }
  HResult GetAppDomainStaticAddress() override { return Fail(); }
  HResult GetThreadStaticAddress() override { return Fail(); }
  HResult GetContextStaticAddress() override { return Fail(); }
  HResult GetStaticFieldInfo() override { return Fail(); }
  HResult GetGenerationBounds(uint32_t, uint32_t*, GenerationRange*) override { return Fail(); }
  HResult GetObjectGeneration() override { return Fail(); }
  HResult GetNotifiedExceptionClauseInfo() override { return Fail(); }
  HResult EnumJITedFunctions() override { return Fail(); }
  HResult RequestProfilerDetach(uint32_t) override { return Fail(); }
  HResult SetFunctionIDMapper2() override { return Fail(); }
  HResult GetStringLayout2() override { return Fail(); }
  HResult SetEnterLeaveFunctionHooks3() override { return Fail(); }
  HResult SetEnterLeaveFunctionHooks3WithInfo() override { return Fail(); }
  HResult GetFunctionEnter3Info() override { return Fail(); }
  HResult GetFunctionLeave3Info() override { return Fail(); }
  HResult GetFunctionTailcall3Info() override { return Fail(); }
  HResult EnumModules() override { return Fail(); }
  HResult GetRuntimeInformation(uint16_t*, int32_t*, uint16_t*, uint16_t*, uint16_t*, uint16_t*,
                                uint32_t, uint32_t*, char16_t*) override {
    return Fail();
  }
  HResult GetThreadStaticAddress2() override { return Fail(); }
  HResult GetAppDomainsContainingModule() override { return Fail(); }
  HResult GetModuleInfo2(ModuleId, const uint8_t**, uint32_t, uint32_t*, char16_t*, AssemblyId*,
                         uint32_t*) override {
    return Fail();
  }
  HResult EnumThreads() override { return Fail(); }
  HResult InitializeCurrentThread() override { return Fail(); }
  HResult RequestReJIT() override { return Fail(); }
  HResult RequestRevert() override { return Fail(); }
  HResult GetCodeInfo3() override { return Fail(); }
  HResult GetFunctionFromIP2() override { return Fail(); }
  HResult GetReJITIDs(FunctionId, uint32_t, uint32_t*, ReJitId*) override { return Fail(); }
  HResult GetILToNativeMapping2() override { return Fail(); }
  HResult EnumJITedFunctions2() override { return Fail(); }
  HResult GetObjectSize2(ObjectId, size_t*) override { return Fail(); }
  HResult GetEventMask2() override { return Fail(); }
  HResult SetEventMask2(uint32_t, uint32_t) override { return Fail(); }
  HResult EnumNgenModuleMethodsInliningThisMethod() override { return Fail(); }
  HResult ApplyMetaData() override { return Fail(); }
  HResult GetInMemorySymbolsLength() override { return Fail(); }
  HResult ReadInMemorySymbols() override { return Fail(); }
  HResult IsFunctionDynamic(FunctionId, int32_t*) override { return Fail(); }
  HResult GetFunctionFromIP3(const uint8_t*, FunctionId*, ReJitId*) override { return Fail(); }
  HResult GetDynamicFunctionInfo(FunctionId, ModuleId*, const uint8_t**, uint32_t*, uint32_t,
                                 uint32_t*, char16_t*) override {
    return Fail();
  }
  HResult GetNativeCodeStartAddresses(FunctionId, ReJitId, uint32_t, uint32_t*,
                                      uintptr_t*) override {
    return Fail();
  }
  HResult GetILToNativeMapping3() override { return Fail(); }
  HResult GetCodeInfo4() override { return Fail(); }
  HResult EnumerateObjectReferences() override { return Fail(); }
  HResult IsFrozenObject() override { return Fail(); }
  HResult GetLOHObjectSizeThreshold() override { return Fail(); }
  HResult RequestReJITWithInliners() override { return Fail(); }
  HResult SuspendRuntime() override { return Fail(); }
  HResult ResumeRuntime() override { return Fail(); }
  HResult GetEnvironmentVariable() override { return Fail(); }
  HResult SetEnvironmentVariable() override { return Fail(); }
  HResult EventPipeStartSession(uint32_t, EventPipeProviderConfig*, int32_t,
                                EventPipeSession*) override {
    return Fail();
  }
  HResult EventPipeAddProviderToSession() override { return Fail(); }
  HResult EventPipeStopSession(EventPipeSession) override { return Fail(); }
  HResult EventPipeCreateProvider() override { return Fail(); }
  HResult EventPipeGetProviderInfo() override { return Fail(); }
  HResult EventPipeDefineEvent() override { return Fail(); }
  HResult EventPipeWriteEvent() override { return Fail(); }
  HResult CreateHandle(ObjectId, int32_t, ObjectHandle*) override { return Fail(); }
  HResult DestroyHandle(ObjectHandle) override { return Fail(); }
  HResult GetObjectIDFromHandle(ObjectHandle, ObjectId*) override { return Fail(); }
  HResult EnumerateNonGCObjects() override { return Fail(); }
  HResult GetNonGCHeapBounds() override { return Fail(); }
  HResult EventPipeCreateProvider2() override { return Fail(); }
  HResult EnumerateGCHeapObjects() override { return Fail(); }
};
// NOLINTEND(readability-identifier-naming)

}  // namespace clrscope::agent
