// SPDX-License-Identifier: Apache-2.0
// What this program is: its version, the commit that it was built from and what is in it.
#pragma once

#include <string>
#include <string_view>

namespace clrscope::cli {

// What only the program itself knows, and not its libraries.
struct Build {
  std::string_view commit;   // "abcdef123456", "abcdef123456-dirty", or "unknown"
  bool static_link = false;  // it needs no library of the system
};

// "clrscope 1.2.3 (abcdef123456)" and a line of what the program has: told by what is really
// linked.
std::string VersionText(const Build& build);

}  // namespace clrscope::cli
