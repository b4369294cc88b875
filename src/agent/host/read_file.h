// SPDX-License-Identifier: Apache-2.0
// Files of /proc, which do not say how long they are.
#pragma once

#include <string>

namespace clrscope::agent {

// Appends what can be read to `text`. False: that was not all.
bool ReadFile(const char* path, std::string* text);

}  // namespace clrscope::agent
