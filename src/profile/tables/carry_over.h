// SPDX-License-Identifier: Apache-2.0
// Goes on with a living process in another recording.
#pragma once

#include <cstdint>

#include "base/string_pool.h"
#include "profile/tables/process_tables.h"

namespace clrscope::profile {

// Copies who the process is, its modules, images and the code that was not unloaded from one
// recording into another that begins `shift_ns` later. Stacks, series, types, GCs and losses begin
// anew. Time and memory: by the number of methods.
void CarryOver(const ProcessTables& from, const StringPool& from_strings, int64_t shift_ns,
               ProcessTables& to, StringPool& to_strings);

}  // namespace clrscope::profile
