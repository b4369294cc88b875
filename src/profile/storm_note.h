// SPDX-License-Identifier: Apache-2.0
// A storm of exceptions in words, for reports and files.
#pragma once

#include <string>

#include "profile/profile.h"

namespace clrscope::profile {

// From when to when, how many there were, how many of them were recorded, by what that is known.
// figure: one with storms
std::string StormNote(const Figure& figure);

}  // namespace clrscope::profile
