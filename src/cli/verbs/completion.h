// SPDX-License-Identifier: Apache-2.0
// The verb `completion`: what a shell needs to complete command lines of clrscope.
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunCompletion(const Args& args);

}  // namespace clrscope::cli
