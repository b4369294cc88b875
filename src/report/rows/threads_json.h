// SPDX-License-Identifier: Apache-2.0
// The threads of a process as programs read them.
#pragma once

#include "inspect/picture.h"
#include "report/json.h"

namespace clrscope::report {

// All members but `threads`, which are rows of their own.
Json ThreadsHeadJson(const inspect::Picture& picture);
Json ThreadJson(const inspect::Picture& picture, const inspect::Thread& thread);

}  // namespace clrscope::report
