// SPDX-License-Identifier: Apache-2.0
#include "cli/wrap.h"

#include "cli/shorten.h"

namespace clrscope::cli {
namespace {
constexpr std::string_view kHardBlank = "\xC2\xA0";  // U+00A0
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
    const size_t blank = text.find(' ');
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

}  // namespace clrscope::cli
