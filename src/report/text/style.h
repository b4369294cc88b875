// SPDX-License-Identifier: Apache-2.0
// The few styles of text.
#pragma once

#include <string>
#include <string_view>

namespace clrscope::report {

// Colour is only ever an addition: every mark is a word or a sign too.
class Style {
 public:
  Style() = default;
  explicit Style(bool on) : on_(on) {}
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

}  // namespace clrscope::report
