// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunTop(const Args& args);

}  // namespace clrscope::cli
