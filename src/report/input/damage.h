// SPDX-License-Identifier: Apache-2.0
// What is wrong with a trace that was read to where it could be.
#pragma once

#include <optional>
#include <string>

#include "import/trace_file.h"

namespace clrscope::report {

// One sentence with the byte offset, or none for a whole trace. `ended`: its end tag was seen.
std::optional<Error> DamageOf(const import::TraceSummary& trace, const std::string& path,
                              bool ended);

}  // namespace clrscope::report
