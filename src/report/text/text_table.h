// SPDX-License-Identifier: Apache-2.0
// Lays rows out in columns that fit the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/text/style.h"

namespace clrscope::report {

enum class Align { kLeft, kRight };

struct TextColumn {
  std::string title;
  Align align = Align::kLeft;
  // Names share the room that the other columns leave, and are shortened; others keep their width.
  enum class Fit { kFixed, kName, kMiddle } fit = Fit::kFixed;
};

struct TextRow {
  std::vector<std::string> cells;
  bool dim = false;
};

class TextTable {
 public:
  explicit TextTable(std::vector<TextColumn> columns) : columns_(std::move(columns)) {}
  // Control characters in `cells` become '?'.
  void Add(std::vector<std::string> cells, bool dim = false);
  bool empty() const { return rows_.empty(); }
  // With a heading, one line a row. A column that is empty in every row is left out.
  std::string Render(size_t width, const Style& style) const;

 private:
  std::vector<size_t> Widths(size_t width) const;

  std::vector<TextColumn> columns_;
  std::vector<TextRow> rows_;
};

}  // namespace clrscope::report
