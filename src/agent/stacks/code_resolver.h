// SPDX-License-Identifier: Apache-2.0
// What an address on a stack is: native code of a module, or a method, and how to walk past it. On
// the agent's thread.
#pragma once

#include <cstdint>
#include <span>

#include "agent/com/corprof.h"
#include "agent/stacks/code_table.h"
#include "agent/stacks/native_map.h"

namespace clrscope::agent {

class CodeResolver {
 public:
  explicit CodeResolver(ICorProfilerInfo* info) : info_(info) {}

  struct Answer {
    unwind::FrameRule rule;
    bool dynamic = false;  // may be unloaded on its own
  };
  // Native code, of the modules that stay loaded (null = none are known) or of any other, which is
  // `unloadable`. False: it is none.
  static bool ResolveNative(uintptr_t ip, const NativeMap* native, unwind::FrameRule* rule,
                            bool* unloadable);
  // Code of this function, which `ip` is in. Within a question to the lookup gate.
  Answer Resolve(FunctionId function, uintptr_t ip) const;

 private:
  // Where the function's code begins, of all tiers and of all that profilers had compiled; nothing
  // where it has more than there is room for.
  std::span<const uintptr_t> StartsOf(FunctionId function, std::span<uintptr_t> room) const;
  unwind::FrameRule ManagedRule(FunctionId function, uintptr_t ip) const;
  bool MayFilter(FunctionId function) const;

  ICorProfilerInfo* info_;
};

}  // namespace clrscope::agent
