// SPDX-License-Identifier: Apache-2.0
// What a method is to async callers, in 64 bits: nothing (0), one that resumes state machines, or
// the MoveNext of one.
#pragma once

#include <cstdint>

#include "agent/host/lookup.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::agent {

struct AsyncRole {
  static constexpr uint64_t kResumes = 1;
  // A state machine by its definition, as code that reference types share does not tell its type.
  // 0: it does not fit. Modules lie at multiples of 8.
  static constexpr uint64_t Machine(ModuleId module, uint32_t token, bool is_class) {
    const uint64_t row = token & 0xffffff;
    if (row >= 1u << 19 || module >> 47 != 0) return 0;
    return (uint64_t{module} >> 3) << 20 | row << 1 | (is_class ? 1 : 0);
  }
  static constexpr bool IsMachine(uint64_t role) { return role > kResumes; }
  static constexpr bool IsClass(uint64_t role) { return (role & 1) != 0; }
};

inline constexpr char kCoreLib[] = "System.Private.CoreLib";

// `function` is the described one, for which the lookup was begun. `module` is set to its module.
uint64_t RoleOf(Lookup& lookup, FunctionId function, const profile::IntervalMethod& method,
                ModuleId* module);

}  // namespace clrscope::agent
