// SPDX-License-Identifier: Apache-2.0
// What an address on a stack is: native code of a module, or a method, and how to walk past it. On
// the agent's thread, while no code can be unloaded.
#pragma once

#include <memory>

#include "agent/code_table.h"
#include "agent/com/corprof.h"
#include "agent/native_map.h"

namespace clrscope::agent {

class CodeResolver {
 public:
  explicit CodeResolver(ICorProfilerInfo* info) : info_(info) {}

  struct Answer {
    FrameRule rule;
    FunctionId function = 0;  // 0: native, or unknown
    bool dynamic = false;     // may be unloaded on its own
  };
  // `native`: the modules that are loaded, as far as known; null = none.
  Answer Resolve(uintptr_t ip, const NativeMap* native) const;

 private:
  FrameRule ManagedRule(FunctionId function, ReJitId rejit, uintptr_t ip) const;
  bool MayFilter(FunctionId function) const;

  ICorProfilerInfo* info_;
};

}  // namespace clrscope::agent
