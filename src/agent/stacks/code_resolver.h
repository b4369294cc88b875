// SPDX-License-Identifier: Apache-2.0
// What an address on a stack is: native code of a module, or a method, and how to walk past it. On
// the agent's thread.
#pragma once

#include <cstdint>
#include <span>

#include "agent/host/lookup.h"
#include "agent/stacks/code_table.h"
#include "agent/stacks/native_map.h"
#include "unwind/prologue.h"

namespace clrscope::agent {

class CodeResolver {
 public:
  explicit CodeResolver(Lookup& lookup) : lookup_(lookup) {}

  struct Answer {
    unwind::FrameRule rule;
    bool dynamic = false;  // may be unloaded on its own
  };
  // Native code, of the modules that stay loaded (null = none are known) or of any other, which is
  // `unloadable`. False: it is none.
  static bool ResolveNative(uintptr_t ip, const NativeMap* native, unwind::FrameRule* rule,
                            bool* unloadable);
  // Code of this function, which `ip` is in. After the lookup was begun for it; where it has gone
  // meanwhile, the answer means nothing.
  Answer Resolve(FunctionId function, uintptr_t ip) const;

 private:
  // Where the function's code begins, of all tiers and of all that profilers had compiled; nothing
  // where it has more than there is room for.
  std::span<const uintptr_t> StartsOf(FunctionId function, std::span<uintptr_t> room) const;
  unwind::Prologue PrologueAt(uintptr_t start) const;
  unwind::FrameRule ManagedRule(FunctionId function, uintptr_t ip) const;
  bool MayFilter(FunctionId function) const;

  Lookup& lookup_;
};

}  // namespace clrscope::agent
