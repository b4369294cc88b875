// SPDX-License-Identifier: Apache-2.0
// What a database command does, in few words: "SELECT orders". Its values stay out.
#pragma once

#include <string>
#include <string_view>

namespace clrscope::analysis {

// Appends the statement's kind and, where it names one, the first table. `sql`: its beginning is
// enough. Something that is no statement is a procedure's name.
void AppendSqlSummary(std::string& out, std::string_view sql);

}  // namespace clrscope::analysis
