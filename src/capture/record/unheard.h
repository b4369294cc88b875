// SPDX-License-Identifier: Apache-2.0
// Runtimes of a launched program that do not dial us, while they run.
#pragma once

#include <sys/types.h>

#include <string>

namespace clrscope::capture {

// Why a .NET process at or below `program` has not dialled `port`, one sentence; "" where there is
// none, or where it may still be about to.
std::string WhyUnheard(pid_t program, const std::string& port);

}  // namespace clrscope::capture
