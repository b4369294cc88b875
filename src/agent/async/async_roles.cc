// SPDX-License-Identifier: Apache-2.0
#include "agent/async/async_roles.h"

#include <algorithm>
#include <string_view>

#include "agent/stacks/module_metadata.h"

namespace clrscope::agent {
namespace {

constexpr std::string_view kMoveNext = ".MoveNext()";

// Whatever calls a state machine's MoveNext after an await, from the outermost frame that a tail
// call may leave: not what starts it (AsyncMethodBuilderCore.Start).
constexpr std::string_view kResumers[] = {
    "System.Threading.ExecutionContext.",
    "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1",
    "System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder`1+StateMachineBox`1",
    "System.Threading.ThreadPool",
    "System.Threading.QueueUserWorkItemCallback",
    "System.Threading.Tasks.AwaitTaskContinuation",
    "System.Threading.Tasks.SynchronizationContextAwaitTaskContinuation",
    "System.Threading.Tasks.TaskSchedulerAwaitTaskContinuation",
    "System.Threading.Tasks.Task.RunContinuations",
    "System.Threading.Tasks.Task.RunOrQueueCompletionAction",
    "System.Threading.Tasks.Sources.ManualResetValueTaskSourceCore`1",
};

// "Shop.Cart+<AddAsync>d__3[…].MoveNext()", and of lambdas "…+<<Add>b__0_0>d.MoveNext()".
bool IsMoveNext(std::string_view raw) {
  return raw.ends_with(kMoveNext) && raw.find("+<") != std::string_view::npos &&
         raw.find(">d") != std::string_view::npos;
}

}  // namespace

uint64_t RoleOf(Lookup& lookup, FunctionId function, const profile::IntervalMethod& method,
                ModuleId* module) {
  const std::string_view raw = method.raw;
  const bool core = method.module == kCoreLib;
  *module = 0;
  const bool resumes = core && std::any_of(std::begin(kResumers), std::end(kResumers),
                                           [&](auto prefix) { return raw.starts_with(prefix); });
  if (!resumes && !IsMoveNext(raw)) return 0;
  ClassId owner = 0;
  uint32_t token = 0, count = 0;
  if (!Succeeded(lookup.Ask<&ICorProfilerInfo::GetFunctionInfo2>(function, 0u, &owner, module,
                                                                 &token, 0u, &count, nullptr)))
    return 0;
  if (resumes) return AsyncRole::kResumes;
  ModuleMetadata metadata(lookup, *module);
  const auto found = metadata.FindMethod(token);
  if (!found || found->owner == 0) return 0;
  return AsyncRole::Machine(*module, found->owner, !metadata.IsValueType(found->owner));
}

}  // namespace clrscope::agent
