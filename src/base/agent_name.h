// SPDX-License-Identifier: Apache-2.0
// What the agent's code is called where it stands among a program's.
#pragma once

#include <string_view>

namespace clrscope {

inline constexpr std::string_view kAgentName = "clrscope agent";

}  // namespace clrscope
