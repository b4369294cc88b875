// SPDX-License-Identifier: Apache-2.0
// The regular expressions that stand in route constraints: ASCII, literals, classes, groups,
// alternatives and repetitions, without regard to case, as RegexRouteConstraint has them. In time
// linear in the text and without allocation. Everything else does not compile.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace clrscope::analysis {

class SmallRegex {
 public:
  static std::optional<SmallRegex> Compile(std::string_view pattern);
  // Whether the pattern occurs in `text`, at its ends where it has anchors. `text` is ASCII.
  bool Matches(std::string_view text) const;

 private:
  friend class SmallRegexParser;
  using Class = std::bitset<128>;
  // Glushkov's automaton: a state for each character of the pattern, at most 64.
  std::vector<Class> classes_;
  std::vector<uint64_t> follow_;
  uint64_t first_ = 0, last_ = 0;
  bool nullable_ = false;
  bool from_start_ = false, to_end_ = false;
};

}  // namespace clrscope::analysis
