// SPDX-License-Identifier: Apache-2.0
// `clrscope attach`, `detach`, `status` and `env`: the agent in a process, without a recording.
#pragma once

#include "cli/verbs.h"

namespace clrscope::cli {

int RunAttach(const Args& args);
int RunDetach(const Args& args);
int RunStatus(const Args& args);
int RunEnv(const Args& args);

}  // namespace clrscope::cli
