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

bool EndsLikeGccClone(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  if (name.ends_with('.')) name.remove_suffix(1);
  for (const std::string_view ending : {".part", ".constprop", ".isra", ".cold", ".lto_priv"})
    if (name.ends_with(ending)) return true;
  return false;
}

// Of C++ and C, as no C# name is: "GCH::Mark(int)", "msort_with_tmp.part.0".
bool IsNativeName(std::string_view name) {
  return name.find("::") != std::string_view::npos || EndsLikeGccClone(name);
}

// Where the parameters begin, which are the last thing outside of <…>: "f<int>(int) const".
size_t Parameters(std::string_view name) {
  size_t at = name.size();
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' && !name.substr(0, i).ends_with("operator")) ++depth;
    if (name[i] == '>' && depth > 0) --depth;
    const std::string_view rest = name.substr(i);
    if (depth == 0 && name[i] == '(' && !rest.starts_with("(anonymous") &&
        !(rest.starts_with("()") && name.substr(0, i).ends_with("operator"))) {
      at = i;
      break;
    }
  }
  return at;
}

// "void ns::A<int>::f(int, int)" → "ns::A<int>::f", "ns::A<…>::f", "…A<…>::f", then the middle.
std::string ShortenNative(std::string_view name, size_t width) {
  std::string text(name.substr(0, Parameters(name)));
  if (DisplayWidth(text) <= width) return text;
  text = DropArguments(text);
  std::string_view left = text;  // "Type::Function" at least
  while (DisplayWidth(left) + (left.size() < text.size() ? 1 : 0) > width) {
    const size_t at = left.find("::");
    if (at == std::string_view::npos || left.find("::", at + 2) == std::string_view::npos) break;
    left.remove_prefix(at + 2);
  }
  return ShortenMiddle(
      (left.size() < text.size() ? std::string(kEllipsis) : "") + std::string(left), width);
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
  if (IsNativeName(name)) return ShortenNative(name, width);
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
