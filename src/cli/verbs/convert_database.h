// SPDX-License-Identifier: Apache-2.0
// `convert` into SQLite files: a capture, or plain rows.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "report/input/symbols.h"

namespace clrscope::cli {

enum class DatabaseFormat { kCapture, kRows };

// Makes `output` as a whole or not at all. Returns the damage of the input, if there was any.
Result<std::optional<Error>> WriteDatabase(const std::string& input, const std::string& output,
                                           DatabaseFormat format, bool force,
                                           const report::SymbolOptions& symbols);

}  // namespace clrscope::cli
