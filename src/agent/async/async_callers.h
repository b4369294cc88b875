// SPDX-License-Identifier: Apache-2.0
// Follows who awaits a resumed async method, object by object from its box on: on the thread that
// allocates, which is in cooperative mode, so that nothing moves meanwhile. No lock, no allocation.
// Every object is read once and must be what its type says: where that fails, no caller is told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "agent/async/async_end.h"
#include "agent/async/async_types.h"
#include "agent/stacks/code_table.h"
#include "agent/stacks/stack_bounds.h"
#include "agent/stacks/stack_walk.h"

namespace clrscope::agent {

struct AsyncFollowed {
  AsyncEnd end = AsyncEnd::kNotResumed;
  bool several = false;   // more than one waits somewhere, of which the first was followed
  bool new_type = false;  // the agent's thread has something to look up
};

// Puts the callers in place of the frames below the resumed method. `count`: of room.frames, with
// room.spans, as WalkStack() left them; a stack on which no caller was found stays as it is.
AsyncFollowed FollowAsyncCallers(CodeTable& code, const AsyncTypes& types, const StackBounds& own,
                                 WalkRoom room, size_t* count);

}  // namespace clrscope::agent
