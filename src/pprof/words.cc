// SPDX-License-Identifier: Apache-2.0
#include "pprof/words.h"

#include <charconv>

#include "base/hex.h"

namespace clrscope::pprof {

void MethodSystemName(std::string_view module, uint32_t token, std::string_view raw,
                      std::string& out) {
  out.assign(module);
  out += '!';
  if (token != 0) {
    out += HexNumber(token);
    out += ':';
  }
  out += raw;
}

MethodId SplitSystemName(std::string_view text, std::string_view module) {
  if (text.size() <= module.size() || !text.starts_with(module) || text[module.size()] != '!')
    return {0, text};
  text.remove_prefix(module.size() + 1);
  const size_t colon = text.find(':');
  if (!text.starts_with("0x") || colon == std::string_view::npos) return {0, text};
  MethodId id;
  const char* end = text.data() + colon;
  if (std::from_chars(text.data() + 2, end, id.token, 16).ptr != end) return {0, text};
  id.raw = text.substr(colon + 1);
  return id;
}

int8_t OldGeneration(std::string_view text) {
  return text.size() == 1 && text[0] >= '0' && text[0] <= '4' ? static_cast<int8_t>(text[0] - '0')
                                                              : int8_t{-1};
}

int64_t OldAgeSeconds(std::string_view text) {
  uint32_t number = 0;
  const char* const all = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), all, number);
  if (error != std::errc{} || end == all) return -1;
  const int64_t unit = *end == 's'   ? 1
                       : *end == 'm' ? 60
                       : *end == 'h' ? 3600
                       : *end == 'd' ? 86400
                                     : -1;
  // A bucket: "1m-2m", the last one "14d+".
  if (unit < 0 || end + 1 == all || (end[1] != '-' && end[1] != '+')) return -1;
  return number * unit;
}

}  // namespace clrscope::pprof
