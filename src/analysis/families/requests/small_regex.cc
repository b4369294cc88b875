// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/small_regex.h"

#include <bit>
#include <cctype>
#include <cstddef>

namespace clrscope::analysis {

class SmallRegexParser {
 public:
  SmallRegexParser(std::string_view pattern, SmallRegex* out) : text_(pattern), out_(out) {}

  bool Parse() {
    if (text_.starts_with('^')) {
      out_->from_start_ = true;
      ++at_;
    }
    if (text_.ends_with('$') && !text_.ends_with("\\$")) {
      out_->to_end_ = true;
      text_.remove_suffix(1);
    }
    Piece all;
    if (at_ > text_.size() || !Alternatives(0, all) || at_ != text_.size()) return false;
    // An anchor belongs to the alternative that it stands in.
    if (alternatives_outside_ && (out_->from_start_ || out_->to_end_)) return false;
    out_->first_ = all.first;
    out_->last_ = all.last;
    out_->nullable_ = all.nullable;
    return true;
  }

 private:
  using Class = SmallRegex::Class;
  struct Piece {
    uint64_t first = 0, last = 0;
    bool nullable = true;
  };
  static constexpr int kDeepest = 8;
  static constexpr size_t kMostStates = 64;
  static constexpr int kMostAtoms = 1000;

  bool AtEnd() const { return at_ >= text_.size(); }
  bool Take(char c) {
    if (AtEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void Link(uint64_t from, uint64_t to) {
    for (; from != 0; from &= from - 1)
      out_->follow_[static_cast<size_t>(std::countr_zero(from))] |= to;
  }
  Piece Then(const Piece& a, const Piece& b) {
    Link(a.last, b.first);
    return {a.first | (a.nullable ? b.first : 0), b.last | (b.nullable ? a.last : 0),
            a.nullable && b.nullable};
  }

  bool Alternatives(int depth, Piece& out) {
    if (depth > kDeepest || !Sequence(depth, out)) return false;
    while (Take('|')) {
      if (depth == 0) alternatives_outside_ = true;
      Piece other;
      if (!Sequence(depth, other)) return false;
      out.first |= other.first;
      out.last |= other.last;
      out.nullable = out.nullable || other.nullable;
    }
    return true;
  }

  bool Sequence(int depth, Piece& out) {
    out = {};
    while (!AtEnd() && text_[at_] != '|' && text_[at_] != ')') {
      Piece next;
      if (!Repeated(depth, next)) return false;
      out = Then(out, next);
    }
    return true;
  }

  bool Repeated(int depth, Piece& out) {
    const size_t atom_at = at_;
    if (!Atom(depth, out)) return false;
    if (AtEnd()) return true;
    const size_t after = at_;
    uint32_t least = 1, most = 1;
    bool endless = false;
    if (Take('?')) {
      least = 0;
    } else if (Take('*')) {
      least = 0;
      endless = true;
    } else if (Take('+')) {
      endless = true;
    } else if (Take('{')) {
      if (!Number(least)) return false;
      most = least;
      if (Take(',') && !Number(most)) endless = true;
      if (!Take('}') || (!endless && most < least) || least > kMostStates || most > kMostStates)
        return false;
      if (endless) most = least;
    } else {
      return true;
    }
    Take('?');  // as few as possible: the same texts
    if (!AtEnd() && (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '{')) return false;
    const size_t end = at_;
    if (most == 0 && !endless) return false;  // {0}: nobody writes it
    // Copies of the atom, one after the other: x{2,4} is xxx?x?, x{2,} is xxx*.
    Piece one = out;
    if (endless) Link(one.last, one.first);
    if (least == 0) one.nullable = true;
    out = one;
    for (uint32_t i = 1; i < most; ++i) {
      at_ = atom_at;
      Piece copy;
      if (!Atom(depth, copy) || at_ != after) return false;
      if (endless) Link(copy.last, copy.first);
      if (i >= least) copy.nullable = true;
      out = Then(out, copy);
    }
    at_ = end;
    return true;
  }

  bool Number(uint32_t& out) {
    const size_t from = at_;
    out = 0;
    for (; !AtEnd() && text_[at_] >= '0' && text_[at_] <= '9' && at_ - from < 4; ++at_)
      out = out * 10 + static_cast<uint32_t>(text_[at_] - '0');
    return at_ != from;
  }

  bool Atom(int depth, Piece& out) {
    // Groups without characters could be repeated in one another without end.
    if (AtEnd() || ++atoms_ > kMostAtoms) return false;
    if (Take('(')) {
      if (Take('?') && !Take(':')) return false;
      return Alternatives(depth + 1, out) && Take(')');
    }
    Class set;
    if (Take('[')) {
      if (!Bracket(set)) return false;
    } else if (Take('.')) {
      set.set();
      set.reset('\n');
    } else if (Take('\\')) {
      if (!Escape(set)) return false;
    } else {
      const char c = text_[at_++];
      if (static_cast<unsigned char>(c) >= 128 || std::string_view("^$*+?{}").find(c) != text_.npos)
        return false;
      AddBothCases(set, c);
    }
    if (out_->classes_.size() == kMostStates) return false;
    const uint64_t state = uint64_t{1} << out_->classes_.size();
    out_->classes_.push_back(set);
    out_->follow_.push_back(0);
    out = {state, state, false};
    return true;
  }

  static void AddBothCases(Class& set, char c) {
    const auto u = static_cast<unsigned char>(c);
    set.set(u);
    if ((u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z')) set.set(u ^ 0x20u);
  }
  // After the backslash: one character, or one of \d \D \w \W \s \S.
  bool Escape(Class& set) {
    if (AtEnd()) return false;
    const char c = text_[at_++];
    Class some;
    switch (c) {
      case 'd':
      case 'D':
        for (char i = '0'; i <= '9'; ++i) some.set(static_cast<size_t>(i));
        break;
      case 'w':
      case 'W':
        for (char i = '0'; i <= '9'; ++i) some.set(static_cast<size_t>(i));
        for (char i = 'a'; i <= 'z'; ++i) AddBothCases(some, i);
        some.set('_');
        break;
      case 's':
      case 'S':
        for (const char i : {' ', '\t', '\n', '\r', '\f', '\v'}) some.set(static_cast<size_t>(i));
        break;
      default:
        if (static_cast<unsigned char>(c) >= 128 || std::isalnum(c) != 0) return false;
        set.set(static_cast<size_t>(c));
        return true;
    }
    set |= c >= 'a' ? some : ~some;
    return true;
  }
  // After the bracket that opens it.
  bool Bracket(Class& set) {
    const bool negated = Take('^');
    for (bool first = true;; first = false) {
      if (AtEnd()) return false;
      if (!first && Take(']')) break;
      const char c = text_[at_++];
      if (static_cast<unsigned char>(c) >= 128 || c == '[') return false;
      if (c == '\\') {
        const bool single = !AtEnd() && std::isalnum(text_[at_]) == 0;
        if (!Escape(set)) return false;
        // A range from or to an escaped character is not supported, nor is a class's subtraction.
        if (single && at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']')
          return false;
        continue;
      }
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        const char to = text_[at_ + 1];
        if (static_cast<unsigned char>(to) >= 128 || to == '\\' || to == '[' || to < c)
          return false;
        for (int i = c; i <= to; ++i) AddBothCases(set, static_cast<char>(i));
        at_ += 2;
      } else {
        AddBothCases(set, c);
      }
    }
    if (negated) set.flip();
    return true;
  }

  std::string_view text_;
  SmallRegex* out_;
  size_t at_ = 0;
  int atoms_ = 0;
  bool alternatives_outside_ = false;
};

std::optional<SmallRegex> SmallRegex::Compile(std::string_view pattern) {
  SmallRegex out;
  if (!SmallRegexParser(pattern, &out).Parse()) return std::nullopt;
  return out;
}

bool SmallRegex::Matches(std::string_view text) const {
  if (nullable_ && (!to_end_ || !from_start_ || text.empty())) return true;
  uint64_t states = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    uint64_t reach = i == 0 || !from_start_ ? first_ : 0;
    for (uint64_t s = states; s != 0; s &= s - 1)
      reach |= follow_[static_cast<size_t>(std::countr_zero(s))];
    states = 0;
    const auto c = static_cast<unsigned char>(text[i]);
    for (uint64_t s = reach; s != 0; s &= s - 1) {
      const auto state = static_cast<size_t>(std::countr_zero(s));
      if (c < 128 && classes_[state].test(c)) states |= s & -s;
    }
    if (!to_end_ && (states & last_) != 0) return true;
  }
  return (states & last_) != 0;
}

}  // namespace clrscope::analysis
