// SPDX-License-Identifier: Apache-2.0
// A diff as text for a terminal and as Markdown for a pull request.
#pragma once

#include <string>
#include <vector>

#include "report/rows/diff_rows.h"
#include "report/text/style.h"

namespace clrscope::report {

struct DiffTextOptions {
  Per per = Per::kTotal;
  size_t width = 100;
  size_t limit = 20;  // rows
  Style style{};
};

std::string DiffText(const std::vector<DiffInput>& before, const std::vector<DiffInput>& after,
                     const DiffTable& table, const DiffTextOptions& options);
// Changed rows only.
std::string DiffMarkdown(const std::vector<DiffInput>& before, const std::vector<DiffInput>& after,
                         const DiffTable& table, const DiffTextOptions& options);

}  // namespace clrscope::report
