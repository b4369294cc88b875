// SPDX-License-Identifier: Apache-2.0
// What a thread does, by the kernel's word and its innermost methods.
#pragma once

#include <string_view>

#include "inspect/picture.h"

namespace clrscope::inspect {

// `lock`: what it waits for, null where that is not known.
ThreadState StateOf(const Thread& thread, const Lock* lock = nullptr);

// The innermost method that is not the framework's, else the innermost one; null without a stack.
const Frame* TellingFrame(const Thread& thread);
bool IsFrameworkFile(std::string_view file);

// It blocks until a task has ended: Task.Wait, Task.Result, GetAwaiter().GetResult().
bool BlocksOnTask(const Thread& thread);

}  // namespace clrscope::inspect
