// SPDX-License-Identifier: Apache-2.0
// What an address on a stack is: native code of a module, or a method, and how to walk past it. On
// the agent's thread.
#pragma once

#include <memory>

#include "agent/com/corprof.h"
#include "agent/stacks/code_table.h"
#include "agent/stacks/native_map.h"

namespace clrscope::agent {

class CodeResolver {
 public:
  explicit CodeResolver(ICorProfilerInfo* info) : info_(info) {}

  struct Answer {
    unwind::FrameRule rule;
    FunctionId function = 0;  // 0: native, or unknown
    bool dynamic = false;     // may be unloaded on its own
  };
  // Native code, of the modules that stay loaded (null = none are known) or of any other, which is
  // `unloadable`. False: it is none.
  static bool ResolveNative(uintptr_t ip, const NativeMap* native, unwind::FrameRule* rule,
                            bool* unloadable);
  // Code of the runtime's. Within a question to the lookup gate.
  Answer Resolve(uintptr_t ip) const;

 private:
  unwind::FrameRule ManagedRule(FunctionId function, ReJitId rejit, uintptr_t ip) const;
  bool MayFilter(FunctionId function) const;

  ICorProfilerInfo* info_;
};

}  // namespace clrscope::agent
