// SPDX-License-Identifier: Apache-2.0
#include "base/program_version.h"

namespace clrscope {

std::string_view ProgramVersion() { return "clrscope " CLRSCOPE_VERSION; }
std::string_view Version() { return ProgramVersion().substr(ProgramVersion().find(' ') + 1); }

}  // namespace clrscope
