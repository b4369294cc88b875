// SPDX-License-Identifier: Apache-2.0
// What standard output and standard error are connected to.
#pragma once

#include <cstddef>

#include "report/text/style.h"

namespace clrscope::cli {

enum class ColorMode { kAuto, kAlways, kNever };

bool IsTerminal(int fd);

// Columns to lay text out in: the terminal's, else $COLUMNS, else 100; at least 40.
size_t OutputWidth();

// kAuto: standard output is a terminal, NO_COLOR is not set and TERM is not "dumb".
report::Style StyleFor(ColorMode mode);

}  // namespace clrscope::cli
