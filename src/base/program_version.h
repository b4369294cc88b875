// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace clrscope {

std::string_view Version();         // "1.2.3"
std::string_view ProgramVersion();  // "clrscope 1.2.3", in files that name their writer

}  // namespace clrscope
