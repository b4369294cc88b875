// SPDX-License-Identifier: Apache-2.0
// Notes of many processes in few lines.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace clrscope::capture {

// "process 1", "processes 1, 2", "processes 1, 2, 3, 4, 5 and 7 more"
std::string NamePids(const std::vector<pid_t>& pids);

// Notes that differ only in the number of "process N:" or "process N," become one, where the first
// of them stands.
std::vector<std::string> GroupNotes(std::vector<std::string> notes);

}  // namespace clrscope::capture
