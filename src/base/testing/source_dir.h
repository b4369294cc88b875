// SPDX-License-Identifier: Apache-2.0
// Where the sources of this build lie, for tests that read some of their files. A function, as a
// macro with the path would make the tests' objects differ between two clones, and a compiler's
// cache would not have them.
#pragma once

#include <string>

namespace clrscope {

// Absolute, without a slash at its end.
std::string SourceDir();

}  // namespace clrscope
