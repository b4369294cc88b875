// SPDX-License-Identifier: Apache-2.0
// What a recording took a program, and what it left out for that, in words.
#pragma once

#include <string>
#include <vector>

#include "profile/overhead/overhead.h"
#include "profile/profile.h"

namespace clrscope::profile {

// Of all processes that are shown, together.
Overhead OverheadOf(const Profile& p);
// "" where the CPU time of the program is not known.
std::string OverheadNote(const Overhead& o);
// What was sampled in windows of time, a line each.
std::vector<std::string> WindowNotes(const Overhead& o);
// figure: of allocations, with windows
std::string AllocationWindowsNote(const Figure& figure);

}  // namespace clrscope::profile
