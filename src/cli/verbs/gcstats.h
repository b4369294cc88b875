// SPDX-License-Identifier: Apache-2.0
// The verb `gcstats`: what the garbage collector did and what it cost.
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunGcStats(const Args& args);

}  // namespace clrscope::cli
