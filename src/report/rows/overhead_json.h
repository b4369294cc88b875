// SPDX-License-Identifier: Apache-2.0
// What a recording took a program, as JSON.
#pragma once

#include "profile/overhead/overhead.h"
#include "report/json.h"

namespace clrscope::report {

// null where it is not known.
Json OverheadJson(const profile::Overhead& overhead);

}  // namespace clrscope::report
