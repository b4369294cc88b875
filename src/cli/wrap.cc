// SPDX-License-Identifier: Apache-2.0
#include "cli/wrap.h"

#include "cli/shorten.h"

namespace clrscope::cli {

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
    out += word;
    column += w;
    fresh = false;
  }
  out.push_back('\n');
  return out;
}

}  // namespace clrscope::cli
