// SPDX-License-Identifier: Apache-2.0
// How a process's memory grew: RSS and the GC's heap.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/families/live/memory_growth.h"
#include "report/json.h"

namespace clrscope::report {

// The figures in one paragraph and, where most of the growth is no living object, where to look in
// another. `who`: "orders (17)".
std::string MemoryText(const analysis::MemoryGrowth& growth, const std::string& who, uint32_t pid,
                       size_t width);
Json MemoryJson(const analysis::MemoryGrowth& growth);

}  // namespace clrscope::report
