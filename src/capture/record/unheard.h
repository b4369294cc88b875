// SPDX-License-Identifier: Apache-2.0
// What runs of a launch, and its runtimes that do not dial us.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace clrscope::capture {

// Whether a process runs and has inherited `port`, .NET or not; also one of which that is not known
// for a moment, as it is about to run another program.
bool MayInherit(pid_t pid, const std::string& port);
// All of these. Those of other users may lack, and one whose parent ended during the look.
std::vector<pid_t> Inheritors(const std::string& port);

// Why a .NET process that is `program` (0: it has ended), runs below it, or has inherited `port`,
// has not dialled `port`, one sentence; "" where there is none, or where it may still be about to.
std::string WhyUnheard(pid_t program, const std::string& port);

}  // namespace clrscope::capture
