// SPDX-License-Identifier: Apache-2.0
// The verb `inspect`: what a file holds.
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunInspect(const Args& args);

}  // namespace clrscope::cli
