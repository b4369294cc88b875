// SPDX-License-Identifier: Apache-2.0
// The verb `ps`: lists .NET processes.
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunPs(const Args& args);

}  // namespace clrscope::cli
