// SPDX-License-Identifier: Apache-2.0
#include "capture/proc/maps_line.h"

#include <algorithm>
#include <charconv>

namespace clrscope::capture {
namespace {

// Takes what lies before the next run of blanks.
std::string_view TakeWord(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  return word;
}

bool ParseWhole(std::string_view text, int base, uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

bool ParseMapsLine(std::string_view text, MapsLine& out) {
  constexpr int kHex = 16, kDecimal = 10;
  out = {};
  const std::string_view span = TakeWord(text);
  out.permissions = TakeWord(text);
  (void)ParseWhole(TakeWord(text), kHex, out.offset);
  out.device = TakeWord(text);
  (void)ParseWhole(TakeWord(text), kDecimal, out.inode);
  out.path = text;
  const size_t dash = span.find('-');
  return dash != span.npos && ParseWhole(span.substr(0, dash), kHex, out.start) &&
         ParseWhole(span.substr(dash + 1), kHex, out.end);
}

}  // namespace clrscope::capture
