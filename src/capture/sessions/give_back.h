// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace clrscope::capture {

// Gives memory back to the system that is not in use any more: what is free between allocations,
// and pages of the program and its libraries, which come back from the page cache when they are
// needed again. Starting and joining need much that recording does not.
void GiveBackMemory();

}  // namespace clrscope::capture
