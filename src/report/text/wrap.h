// SPDX-License-Identifier: Apache-2.0
// Breaks sentences into lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clrscope::report {

// `text` broken at blanks into lines of at most `width` columns; every line but the first starts
// with `indent` blanks, for which there is room in `width`. The first line begins after `start`
// columns that are taken already. Ends with a newline.
std::string Wrap(std::string_view text, size_t start, size_t indent, size_t width);

// The same text, which Wrap() will not break: for a figure and its unit.
std::string Unbroken(std::string_view text);

}  // namespace clrscope::report
