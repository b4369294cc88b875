// SPDX-License-Identifier: Apache-2.0
// The columns after a table's figures, which say what each row is of.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/text/table.h"
#include "report/text/text_table.h"

namespace clrscope::report {

struct NameColumn {
  TextColumn column;
  std::function<std::string(const ReportRow&)> text;
};

std::vector<NameColumn> NameColumns(const ReportTable& table, const profile::Profile& profile,
                                    const TextOptions& options);

}  // namespace clrscope::report
