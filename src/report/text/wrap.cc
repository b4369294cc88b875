// SPDX-License-Identifier: Apache-2.0
#include "report/text/wrap.h"

#include <algorithm>
#include <array>

#include "report/text/shorten.h"

namespace clrscope::report {
namespace {
constexpr std::string_view kHardBlank = "\xC2\xA0";  // U+00A0

constexpr std::array<std::string_view, 12> kUnits = {"%",  "B",  "kB", "KiB", "MiB", "GiB",
                                                     "ns", "µs", "ms", "s",   "min", "h"};

// Where the first word of `text` ends: a number and its unit ("66 %,") are one.
size_t WordEnd(std::string_view text) {
  const size_t blank = text.find(' ');
  if (blank == std::string_view::npos || blank == 0 || text[blank - 1] < '0' ||
      text[blank - 1] > '9')
    return blank;
  const size_t end = text.find(' ', blank + 1);
  std::string_view unit =
      text.substr(blank + 1, end == std::string_view::npos ? end : end - blank - 1);
  while (!unit.empty() && std::string_view(",;:.)").find(unit.back()) != std::string_view::npos)
    unit.remove_suffix(1);
  return std::find(kUnits.begin(), kUnits.end(), unit) != kUnits.end() ? end : blank;
}
}  // namespace

std::string Unbroken(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c == ' ')
      out += kHardBlank;
    else
      out.push_back(c);
  return out;
}

std::string Wrap(std::string_view text, size_t start, size_t indent, size_t width) {
  std::string out;
  size_t column = start;
  bool fresh = true;  // nothing on this line yet
  while (!text.empty()) {
    const size_t blank = WordEnd(text);
    const std::string_view word = text.substr(0, blank);
    text = blank == std::string_view::npos ? std::string_view{} : text.substr(blank + 1);
    const size_t w = DisplayWidth(word);
    if (!fresh && column + 1 + w > width) {
      out.append("\n").append(indent, ' ');
      column = indent;
      fresh = true;
    }
    if (!fresh) {
      out.push_back(' ');
      ++column;
    }
    for (size_t at = 0; at < word.size(); ++at) {
      if (word.compare(at, kHardBlank.size(), kHardBlank) != 0) {
        out.push_back(word[at]);
        continue;
      }
      out.push_back(' ');
      at += kHardBlank.size() - 1;
    }
    column += w;
    fresh = false;
  }
  out.push_back('\n');
  return out;
}

}  // namespace clrscope::report
