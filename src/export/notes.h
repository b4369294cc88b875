// SPDX-License-Identifier: Apache-2.0
// What a reader of exported figures has to know and the format has no field for.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace clrscope::exporter {

// One sentence or `key: value` each, in a fixed order: writer, processes and their command lines,
// runtime, of each measure (see FiguresOf) the event and the totals with their 95 % intervals,
// bias, incompleteness, every loss with its count.
std::vector<std::string> Notes(const profile::Profile& profile, bool only_shown = false);

}  // namespace clrscope::exporter
