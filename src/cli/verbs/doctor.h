// SPDX-License-Identifier: Apache-2.0
// The verb `doctor`: every reason why a process can or cannot be profiled.
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunDoctor(const Args& args);

}  // namespace clrscope::cli
