// SPDX-License-Identifier: Apache-2.0
#include "base/proc_stat.h"

#include <charconv>

namespace clrscope {

bool ParseStat(std::string_view text, StatFields* out) {
  constexpr int kState = 3, kUserTime = 14, kKernelTime = 15, kStart = 22,
                kProcessor = 39;  // as proc(5) counts
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return false;
  *out = {};
  out->name = text.substr(open + 1, close - open - 1);
  text.remove_prefix(close + 1);
  int64_t user = 0;
  for (int field = kState; field <= kProcessor; ++field) {
    const size_t at = text.find_first_not_of(" \n");
    if (at == std::string_view::npos) return field > kState;
    text.remove_prefix(at);
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(word.size());
    if (field == kState) {
      if (word.size() != 1) return false;
      out->state = word.front();
    } else if (field == kUserTime || field == kKernelTime || field == kStart ||
               field == kProcessor) {
      int64_t number = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error != std::errc{} || end != word.data() + word.size()) return false;
      if (field == kUserTime) user = number;
      if (field == kKernelTime) {
        out->system_ticks = number;
        out->cpu_ticks = user + number;
      }
      if (field == kStart) out->start_ticks = number;
      if (field == kProcessor) out->processor = static_cast<int>(number);
    }
  }
  return true;
}

}  // namespace clrscope
