// SPDX-License-Identifier: Apache-2.0
#include "report/text/text_table.h"

#include <algorithm>

#include "report/text/shorten.h"

namespace clrscope::report {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kLeastName = 8;

std::string Fitted(const std::string& text, size_t width, TextColumn::Fit fit) {
  if (fit == TextColumn::Fit::kName) return ShortenName(text, width);
  return fit == TextColumn::Fit::kMiddle ? ShortenMiddle(text, width) : text;
}

}  // namespace

std::vector<size_t> TextTable::Widths(size_t width) const {
  std::vector<size_t> widths(columns_.size(), 0);
  for (size_t c = 0; c < columns_.size(); ++c) {
    for (const TextRow& row : rows_) widths[c] = std::max(widths[c], DisplayWidth(row.cells[c]));
    if (widths[c] > 0) widths[c] = std::max(widths[c], DisplayWidth(columns_[c].title));
  }
  // What is too much is taken from the widest flexible column until all fits.
  size_t used = 0;
  for (const size_t w : widths) used += w == 0 ? 0 : w + kGap;
  used -= used == 0 ? 0 : kGap;
  while (used > width) {
    size_t widest = columns_.size();
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].fit == TextColumn::Fit::kFixed || widths[c] <= kLeastName) continue;
      if (widest == columns_.size() || widths[c] > widths[widest]) widest = c;
    }
    if (widest == columns_.size()) break;
    --widths[widest];
    --used;
  }
  return widths;
}

void TextTable::Add(std::vector<std::string> cells, bool dim) {
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back({std::move(cells), dim});
}

std::string TextTable::Render(size_t width, const Style& style) const {
  std::vector<size_t> widths = Widths(width);
  std::vector<std::vector<std::string>> lines(rows_.size() + 1);
  for (const TextColumn& column : columns_) lines[0].push_back(column.title);
  for (size_t r = 0; r < rows_.size(); ++r)
    for (size_t c = 0; c < columns_.size(); ++c)
      lines[r + 1].push_back(Fitted(rows_[r].cells[c], widths[c], columns_[c].fit));
  size_t last = columns_.size();  // of the columns that are shown
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (widths[c] == 0) continue;
    last = c;
    widths[c] = 0;  // shortened names may need less than they were given
    for (const auto& line : lines) widths[c] = std::max(widths[c], DisplayWidth(line[c]));
  }
  std::string out;
  for (size_t r = 0; r < lines.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (widths[c] == 0) continue;
      const std::string pad(widths[c] - DisplayWidth(lines[r][c]), ' ');
      line += columns_[c].align == Align::kRight ? pad + lines[r][c] : lines[r][c] + pad;
      if (c != last) line.append(kGap, ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    out += (r == 0 ? style.Bold(line) : rows_[r - 1].dim ? style.Dim(line) : line) + "\n";
  }
  return out;
}

}  // namespace clrscope::report
