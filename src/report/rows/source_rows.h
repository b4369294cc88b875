// SPDX-License-Identifier: Apache-2.0
// A source file, line by line, with what the measure that is shown counts on each.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"
#include "profile/views/tables.h"
#include "report/input/source_code.h"
#include "report/json.h"

namespace clrscope::report {

struct SourceRow {
  uint32_t line = 0;
  profile::Estimate self, total;
  bool approximate = false;
};

// Of the lines that have figures, in the order of the file.
std::vector<SourceRow> SourceRows(const profile::Profile& profile, uint32_t file, bool framework);

// `text`: null where it is not at hand.
Json SourceJson(const SourceRow& row, const profile::Profile& profile, uint32_t file,
                const SourceCode* text);

}  // namespace clrscope::report
