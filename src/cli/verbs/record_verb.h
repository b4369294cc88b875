// SPDX-License-Identifier: Apache-2.0
// The command line of `record`; what it does is in record.h.
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunRecordVerb(const Args& args);

}  // namespace clrscope::cli
