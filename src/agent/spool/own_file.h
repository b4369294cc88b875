// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace clrscope::agent {

// Removes the file that this library was loaded from, if whoever attaches has put it there for that
// alone. It stays mapped. Whoever attaches does so too, unless it was killed meanwhile.
void RemoveOwnFile();

}  // namespace clrscope::agent
