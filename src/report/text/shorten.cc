// SPDX-License-Identifier: Apache-2.0
#include "report/text/shorten.h"

#include <vector>

namespace clrscope::report {
namespace {

constexpr std::string_view kEllipsis = "…";

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Byte offset of character number `n`.
size_t Offset(std::string_view text, size_t n) {
  size_t i = 0;
  for (; i < text.size(); ++i) {
    if (IsContinuation(text[i])) continue;
    if (n-- == 0) break;
  }
  return i;
}

bool IsNameByte(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u >= 0x80 || c == '_' || c == '`' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

// Within <…> and (…): "System.Collections.Generic.List" → "List".
std::string ShortArguments(std::string_view name) {
  std::string out;
  int depth = 0;
  size_t word = 0;  // where in `out` the dotted name began
  for (const char c : name) {
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (depth > 0 && c == '.' && out.size() > word) {
      out.resize(word);
      continue;
    }
    out.push_back(c);
    if (!IsNameByte(c)) word = out.size();
  }
  return out;
}

// Offsets just behind the dots outside of brackets: where the front may be cut.
std::vector<size_t> Cuts(std::string_view name) {
  std::vector<size_t> cuts;
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(' || name[i] == '[') ++depth;
    if (name[i] == '>' || name[i] == ')' || name[i] == ']') --depth;
    // Not within "..ctor": a constructor keeps its type.
    const bool dot =
        name[i] == '.' && i > 0 && i + 1 < name.size() && name[i - 1] != '.' && name[i + 1] != '.';
    if (depth == 0 && dot) cuts.push_back(i + 1);
  }
  return cuts;
}

// "Dictionary<string, List<int>>.Entry" → "Dictionary<…>.Entry"
std::string DropArguments(std::string_view name) {
  std::string out;
  int depth = 0;
  for (const char c : name) {
    if (c == '>' && depth > 0 && --depth == 0) out += kEllipsis;
    if (depth == 0) out.push_back(c);
    if (c == '<') ++depth;
  }
  return out;
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  size_t n = 0;
  for (const char c : text)
    if (!IsContinuation(c)) ++n;
  return n;
}

std::string Printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x20 || u == 0x7F) c = '?';
  }
  return out;
}

std::string ShortenMiddle(std::string_view text, size_t width) {
  const size_t all = DisplayWidth(text);
  if (all <= width) return std::string(text);
  if (width <= 1) return std::string(width == 0 ? std::string_view{} : kEllipsis);
  const size_t tail = (width - 1) * 2 / 3;
  const size_t head = width - 1 - tail;
  return std::string(text.substr(0, Offset(text, head))) + std::string(kEllipsis) +
         std::string(text.substr(Offset(text, all - tail)));
}

std::string ShortenName(std::string_view name, size_t width) {
  if (DisplayWidth(name) <= width) return std::string(name);
  std::string shorter = ShortArguments(name);
  if (DisplayWidth(shorter) <= width) return shorter;
  // Keep "Type.Method" whole as long as its arguments can still give way.
  for (const bool drop : {false, true}) {
    std::string text = drop ? DropArguments(shorter) : shorter;
    if (DisplayWidth(text) <= width) return text;
    const std::vector<size_t> cuts = Cuts(text);
    const size_t last = drop || cuts.empty() ? cuts.size() : cuts.size() - 1;
    for (size_t i = 0; i < last; ++i)
      if (DisplayWidth(std::string_view(text).substr(cuts[i])) < width)
        return std::string(kEllipsis) + text.substr(cuts[i]);
    shorter = text;
  }
  const std::vector<size_t> cuts = Cuts(shorter);
  return ShortenMiddle(std::string_view(shorter).substr(cuts.empty() ? 0 : cuts.back()), width);
}

}  // namespace clrscope::report
