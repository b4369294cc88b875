// SPDX-License-Identifier: Apache-2.0
// The table of docs/agent.md, "Of the runtime": from where each call may be made.
#pragma once

#include <string_view>

namespace clrscope::agent {

// `where`: as the table's column "thread" has it. A test fails that causes another call.
void ExpectInCallTable(std::string_view method, std::string_view where);

}  // namespace clrscope::agent
