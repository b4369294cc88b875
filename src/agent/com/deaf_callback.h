// SPDX-License-Identifier: Apache-2.0
// The callbacks that nobody here listens to: their event mask bits are never set.
#pragma once

#include "agent/com/corprof.h"

namespace clrscope::agent {

// NOLINTBEGIN(readability-identifier-naming): the runtime's names
class DeafCallback : public ICorProfilerCallback {
 public:
  HResult AppDomainCreationStarted() override { return kOk; }
  HResult AppDomainCreationFinished() override { return kOk; }
  HResult AppDomainShutdownStarted() override { return kOk; }
  HResult AppDomainShutdownFinished() override { return kOk; }
  HResult AssemblyLoadStarted() override { return kOk; }
  HResult AssemblyLoadFinished() override { return kOk; }
  HResult AssemblyUnloadStarted() override { return kOk; }
  HResult AssemblyUnloadFinished() override { return kOk; }
  HResult ModuleLoadStarted() override { return kOk; }
  HResult ModuleLoadFinished() override { return kOk; }
  HResult ModuleUnloadFinished() override { return kOk; }
  HResult ModuleAttachedToAssembly() override { return kOk; }
  HResult ClassLoadStarted() override { return kOk; }
  HResult ClassLoadFinished() override { return kOk; }
  HResult ClassUnloadStarted() override { return kOk; }
  HResult ClassUnloadFinished() override { return kOk; }
  HResult FunctionUnloadStarted() override { return kOk; }
  HResult JITCompilationStarted() override { return kOk; }
  HResult JITCompilationFinished() override { return kOk; }
  HResult JITCachedFunctionSearchStarted() override { return kOk; }
  HResult JITCachedFunctionSearchFinished() override { return kOk; }
  HResult JITFunctionPitched() override { return kOk; }
  HResult JITInlining() override { return kOk; }
  HResult ThreadCreated() override { return kOk; }
  HResult ThreadDestroyed() override { return kOk; }
  HResult ThreadAssignedToOSThread() override { return kOk; }
  HResult RemotingClientInvocationStarted() override { return kOk; }
  HResult RemotingClientSendingMessage() override { return kOk; }
  HResult RemotingClientReceivingReply() override { return kOk; }
  HResult RemotingClientInvocationFinished() override { return kOk; }
  HResult RemotingServerReceivingMessage() override { return kOk; }
  HResult RemotingServerInvocationStarted() override { return kOk; }
  HResult RemotingServerInvocationReturned() override { return kOk; }
  HResult RemotingServerSendingReply() override { return kOk; }
  HResult UnmanagedToManagedTransition() override { return kOk; }
  HResult ManagedToUnmanagedTransition() override { return kOk; }
  HResult RuntimeSuspendStarted() override { return kOk; }
  HResult RuntimeSuspendFinished() override { return kOk; }
  HResult RuntimeSuspendAborted() override { return kOk; }
  HResult RuntimeResumeStarted() override { return kOk; }
  HResult RuntimeResumeFinished() override { return kOk; }
  HResult RuntimeThreadSuspended() override { return kOk; }
  HResult RuntimeThreadResumed() override { return kOk; }
  HResult MovedReferences() override { return kOk; }
  HResult ObjectsAllocatedByClass() override { return kOk; }
  HResult ObjectReferences() override { return kOk; }
  HResult RootReferences() override { return kOk; }
  HResult ExceptionThrown() override { return kOk; }
  HResult ExceptionSearchFunctionEnter() override { return kOk; }
  HResult ExceptionSearchFunctionLeave() override { return kOk; }
  HResult ExceptionSearchFilterEnter() override { return kOk; }
  HResult ExceptionSearchFilterLeave() override { return kOk; }
  HResult ExceptionSearchCatcherFound() override { return kOk; }
  HResult ExceptionOSHandlerEnter() override { return kOk; }
  HResult ExceptionOSHandlerLeave() override { return kOk; }
  HResult ExceptionUnwindFunctionEnter() override { return kOk; }
  HResult ExceptionUnwindFunctionLeave() override { return kOk; }
  HResult ExceptionUnwindFinallyEnter() override { return kOk; }
  HResult ExceptionUnwindFinallyLeave() override { return kOk; }
  HResult ExceptionCatcherEnter() override { return kOk; }
  HResult ExceptionCatcherLeave() override { return kOk; }
  HResult COMClassicVTableCreated() override { return kOk; }
  HResult COMClassicVTableDestroyed() override { return kOk; }
  HResult ExceptionCLRCatcherFound() override { return kOk; }
  HResult ExceptionCLRCatcherExecute() override { return kOk; }
  HResult ThreadNameChanged() override { return kOk; }
  HResult GarbageCollectionStarted() override { return kOk; }
  HResult SurvivingReferences() override { return kOk; }
  HResult GarbageCollectionFinished() override { return kOk; }
  HResult FinalizeableObjectQueued() override { return kOk; }
  HResult RootReferences2() override { return kOk; }
  HResult HandleCreated() override { return kOk; }
  HResult HandleDestroyed() override { return kOk; }
  HResult ReJITCompilationStarted() override { return kOk; }
  HResult GetReJITParameters() override { return kOk; }
  HResult ReJITCompilationFinished() override { return kOk; }
  HResult ReJITError() override { return kOk; }
  HResult MovedReferences2() override { return kOk; }
  HResult SurvivingReferences2() override { return kOk; }
  HResult ConditionalWeakTableElementReferences() override { return kOk; }
  HResult GetAssemblyReferences() override { return kOk; }
  HResult ModuleInMemorySymbolsUpdated() override { return kOk; }
  HResult DynamicMethodJITCompilationStarted() override { return kOk; }
  HResult DynamicMethodJITCompilationFinished() override { return kOk; }
  HResult EventPipeProviderCreated() override { return kOk; }
};
// NOLINTEND(readability-identifier-naming)

}  // namespace clrscope::agent
