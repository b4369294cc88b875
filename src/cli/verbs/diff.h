// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunDiff(const Args& args);

}  // namespace clrscope::cli
