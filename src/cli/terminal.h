// SPDX-License-Identifier: Apache-2.0
// What standard output and standard error are connected to, and the few styles that are used there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clrscope::cli {

enum class ColorMode { kAuto, kAlways, kNever };

bool IsTerminal(int fd);

// Columns to lay text out in: the terminal's, else $COLUMNS, else 100; at least 40.
size_t OutputWidth();

// Colour is only ever an addition: every mark is a word or a sign too.
class Style {
 public:
  Style() = default;
  explicit Style(bool on) : on_(on) {}
  // kAuto: standard output is a terminal, NO_COLOR is not set and TERM is not "dumb".
  static Style For(ColorMode mode);

  std::string Bold(std::string_view text) const { return Wrap("1", text); }
  std::string Dim(std::string_view text) const { return Wrap("2", text); }
  std::string Good(std::string_view text) const { return Wrap("32", text); }
  std::string Caution(std::string_view text) const { return Wrap("33", text); }
  std::string Bad(std::string_view text) const { return Wrap("31", text); }
  bool on() const { return on_; }

 private:
  std::string Wrap(std::string_view code, std::string_view text) const;
  bool on_ = false;
};

}  // namespace clrscope::cli
