// SPDX-License-Identifier: Apache-2.0
// The verb `watch`: records every .NET process for ever, into a folder of limited age and size.
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunWatch(const Args& args);

}  // namespace clrscope::cli
