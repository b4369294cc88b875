// SPDX-License-Identifier: Apache-2.0
// A process's tables → LineJob, and its answers → tables.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "places/line_job.h"
#include "profile/tables/process_tables.h"

namespace clrscope::places {

// Whether a module, by its path, belongs to the framework.
using IsFramework = std::function<bool(std::string_view path)>;

// `addresses`: indexes into the tree's. Those that have a line already, or belong to no method, are
// left out. With `last` methods without a map count, too: their first line is better than nothing.
LineJob MakeLineJob(const profile::ProcessTables& tables, const StringPool& strings,
                    const std::vector<uint32_t>& addresses, bool last,
                    const IsFramework& framework);

void TakeLineAnswers(const LineAnswers& answers, StringPool& strings,
                     profile::ProcessTables& tables);

// Of each address whether it is that of an instruction that ran, and not one where a call returns
// to: the leaf of samples of CPU time, and nothing else.
std::vector<bool> InstructionAddresses(const profile::ProcessTables& tables);

}  // namespace clrscope::places
