// SPDX-License-Identifier: Apache-2.0
// The verb `report`: tables of who allocates.
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunReport(const Args& args);

}  // namespace clrscope::cli
