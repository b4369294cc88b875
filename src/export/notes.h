// SPDX-License-Identifier: Apache-2.0
// What a reader of exported figures has to know and the format has no field for.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace clrscope::exporter {

// "clrscope 1.2.3", in files that name their writer.
std::string ProgramVersion();

// One sentence or `key: value` each, in a fixed order: writer, processes and their command lines,
// runtime, event, total with its 95 % interval, bias, incompleteness, every loss with its count.
std::vector<std::string> Notes(const profile::Profile& profile);

}  // namespace clrscope::exporter
