// SPDX-License-Identifier: Apache-2.0
// A call tree as lines of text.
#pragma once

#include <string>

#include "profile/views/call_tree.h"
#include "report/text/table.h"

namespace clrscope::report {

// Branches below 1 % of the whole are counted, not drawn; a chain of single callees stays at one
// level of indentation. At most `limit` lines.
std::string TreeText(const profile::CallTree& tree, const profile::Profile& profile, bool bottom_up,
                     size_t limit, const TextOptions& options);

}  // namespace clrscope::report
