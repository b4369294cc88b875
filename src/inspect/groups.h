// SPDX-License-Identifier: Apache-2.0
// Threads that do the same: one row for all of them.
#pragma once

#include <vector>

#include "inspect/picture.h"

namespace clrscope::inspect {

struct ThreadGroup {
  std::vector<const Thread*> threads;  // of the same stack and state, at least one
};
struct GroupedThreads {
  std::vector<ThreadGroup> groups;  // what waits for locks or runs first, then the largest
  std::vector<const Thread*> idle_workers, runtime_threads;  // folded, unless `all`
};
GroupedThreads GroupThreads(const Picture& picture, bool all);

// A thread that the runtime, the framework or clrscope's agent made for itself.
bool IsRuntimeThread(const Thread& thread);

}  // namespace clrscope::inspect
