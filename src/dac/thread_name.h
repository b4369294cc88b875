// SPDX-License-Identifier: Apache-2.0
// The name that a program gave a thread: the kernel keeps its first 15 bytes only.
#pragma once

#include <string>

#include "dac/core_library.h"

namespace clrscope::dac {

// "" where it has none, or none is found.
std::string ManagedThreadName(Runtime& runtime, CoreLibrary& core, const Thread& thread);

}  // namespace clrscope::dac
