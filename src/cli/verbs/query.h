// SPDX-License-Identifier: Apache-2.0
// The verb `query`: SQL over a recording.
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunQuery(const Args& args);

}  // namespace clrscope::cli
