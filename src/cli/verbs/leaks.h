// SPDX-License-Identifier: Apache-2.0
// The verb `leaks`: what of the live objects grows, what is refreshed, and on what evidence.
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunLeaks(const Args& args);

}  // namespace clrscope::cli
