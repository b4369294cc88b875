// SPDX-License-Identifier: Apache-2.0
#include "report/text/source.h"

#include <fmt/format.h>

#include <map>

#include "report/text/cells.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"

namespace clrscope::report {
namespace {

constexpr uint32_t kAround = 3;
constexpr size_t kFigureWidth = 11, kShareWidth = 7;

std::string Right(const std::string& text, size_t width) {
  const size_t wide = DisplayWidth(text);
  return std::string(wide < width ? width - wide : 0, ' ') + text;
}

// Tabs take four columns, as in most editors.
std::string Untabbed(const std::string& line) {
  std::string out;
  for (const char c : line)
    if (c == '\t')
      out.append(4 - out.size() % 4, ' ');
    else
      out += c;
  return out;
}

std::string Cut(const std::string& text, size_t width) {
  if (DisplayWidth(text) <= width) return text;
  std::string out;
  size_t columns = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80 && ++columns >= width) break;
    out += c;
  }
  return out + "…";
}

}  // namespace

std::string SourceFileText(const std::vector<SourceRow>& rows, const SourceCode& text,
                           const profile::Profile& p, bool whole, const TextOptions& o) {
  std::map<uint32_t, const SourceRow*> by_line;
  for (const SourceRow& row : rows) by_line[row.line] = &row;
  const double all = SortValue(p.Total(), o.sort);
  const auto figures = [&](const profile::Estimate& e) {
    if (e.none()) return Right("", kFigureWidth + kShareWidth);
    return Right(o.sort == profile::SortBy::kAmount  ? AmountText(p, e)
                 : o.sort == profile::SortBy::kCount ? CountText(p, e)
                                                     : Thousands(e.samples),
                 kFigureWidth) +
           Right(HumanShare(SortValue(e, o.sort), all), kShareWidth);
  };
  std::string out =
      o.style.Bold(Right("Self", kFigureWidth) + Right("", kShareWidth) +
                   Right("Total", kFigureWidth) + Right("", kShareWidth) + "   Line") +
      "\n";
  uint32_t shown = 0;
  for (uint32_t line = 1; line <= text.lines.size(); ++line) {
    const auto near = by_line.lower_bound(line > kAround ? line - kAround : 0);
    if (!whole && (near == by_line.end() || near->first > line + kAround)) continue;
    if (shown != 0 && line != shown + 1) out += o.style.Dim("  ⋯") + "\n";
    shown = line;
    const auto at = by_line.find(line);
    const SourceRow row = at == by_line.end() ? SourceRow{} : *at->second;
    const std::string head = figures(row.self) + figures(row.total) +
                             (row.approximate ? " ≈" : "  ") + fmt::format("{:5} ", line);
    const size_t taken = DisplayWidth(head);
    const std::string code =
        Cut(Printable(Untabbed(text.lines[line - 1])), o.width > taken + 8 ? o.width - taken : 8);
    out += head + (at == by_line.end() ? o.style.Dim(code) : code) + "\n";
  }
  return out;
}

}  // namespace clrscope::report
