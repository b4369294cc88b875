// SPDX-License-Identifier: Apache-2.0
// What programs read: JSON with its members in the order of writing, and CSV.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace clrscope::report {

using Json = nlohmann::ordered_json;

// One line of JSON; bytes that are no UTF-8 are replaced.
std::string Dump(const Json& value, int indent = -1);

// One line of RFC 4180, with LF.
std::string CsvLine(const std::vector<std::string>& cells);

}  // namespace clrscope::report
