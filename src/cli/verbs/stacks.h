// SPDX-License-Identifier: Apache-2.0
// The verb `stacks`: what every thread does now, and why the program hangs.
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunStacks(const Args& args);

}  // namespace clrscope::cli
