// SPDX-License-Identifier: Apache-2.0
// The verb `convert`: a recording in another format.
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunConvert(const Args& args);

}  // namespace clrscope::cli
