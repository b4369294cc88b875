// SPDX-License-Identifier: Apache-2.0
// The text of /proc/PID/stat and /proc/PID/task/TID/stat. Source: proc(5)
#pragma once

#include <cstdint>
#include <string_view>

namespace clrscope {

struct StatFields {
  std::string_view name;      // within the text; any bytes, parentheses and blanks too
  char state = '?';           // R S D Z T t X …
  int64_t cpu_ticks = -1;     // in user and kernel mode; -1: the text ends before
  int64_t system_ticks = -1;  // of these, in kernel mode
  int64_t start_ticks = -1;   // since boot; -1: the text ends before
  int processor = -1;         // that it is on, or was last; -1: the text ends before
};

// Returns false, and leaves anything in `out`, where there is no name or no state, or where one of
// these fields is no number.
bool ParseStat(std::string_view text, StatFields* out);

}  // namespace clrscope
