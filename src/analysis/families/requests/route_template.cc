// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/route_template.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/families/requests/action_verdicts.h"
#include "analysis/families/requests/value_kinds.h"

namespace clrscope::analysis {
namespace {

// Braces stand twice for one where they are no parameter's.
std::string UnescapeBraces(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if ((text[i] == '{' || text[i] == '}') && i + 1 < text.size() && text[i + 1] == text[i]) ++i;
  }
  return out;
}

// Where the parameter whose brace opens at `at` closes; npos: nowhere, or a brace is not escaped.
size_t ParameterEnd(std::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] != '{' && text[i] != '}') continue;
    const bool twice = i + 1 < text.size() && text[i + 1] == text[i];
    if (!twice) return text[i] == '}' ? i : text.npos;
    ++i;
  }
  return text.npos;
}

// The end of the constraint that begins `text`, in which "(…)" may have any character: the
// parenthesis closes where the text ends, or another constraint or the default value begins.
size_t ConstraintEnd(std::string_view text) {
  const size_t end = std::min(text.find_first_of(":=("), text.size());
  if (end == text.size() || text[end] != '(') return end;
  for (size_t i = end + 1; i < text.size(); ++i)
    if (text[i] == ')' && (i + 1 == text.size() || text[i + 1] == ':' || text[i + 1] == '='))
      return i + 1;
  return text.size();
}

size_t FindLastWithoutCase(std::string_view text, std::string_view what) {
  if (what.size() > text.size()) return text.npos;
  for (size_t i = text.size() - what.size() + 1; i-- > 0;)
    if (EqualWithoutCase(text.substr(i, what.size()), what)) return i;
  return text.npos;
}

bool IsAlpha(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const char lower = LowerAscii(c);
    return lower >= 'a' && lower <= 'z';
  });
}

Fit FitOf(bool fits) { return fits ? Fit::kYes : Fit::kNo; }

// Constraints without arguments, and those whose arguments are a length or a range.
enum class RouteArguments : uint8_t { kNone, kOne, kLeast, kMost, kBoth, kOneOrBoth, kPattern };

constexpr char kAttributeOrder = '0', kConventionalOrder = '1', kFallbackOrder = '2';

}  // namespace

RouteConstraint::RouteConstraint(std::string_view text) {
  struct Row {
    std::string_view name;
    Kind kind;
    RouteArguments arguments;
  };
  using A = RouteArguments;
  static constexpr Row kRows[] = {
      {"int", Kind::kInt, A::kNone},
      {"long", Kind::kLong, A::kNone},
      {"bool", Kind::kBool, A::kNone},
      {"guid", Kind::kGuid, A::kNone},
      {"decimal", Kind::kDecimal, A::kNone},
      {"double", Kind::kFloat, A::kNone},
      {"float", Kind::kFloat, A::kNone},
      {"datetime", Kind::kDate, A::kNone},
      {"alpha", Kind::kAlpha, A::kNone},
      {"file", Kind::kFile, A::kNone},
      {"nonfile", Kind::kNonFile, A::kNone},
      {"required", Kind::kRequired, A::kNone},
      {"minlength", Kind::kLength, A::kLeast},
      {"maxlength", Kind::kLength, A::kMost},
      {"length", Kind::kLength, A::kOneOrBoth},
      {"min", Kind::kRange, A::kLeast},
      {"max", Kind::kRange, A::kMost},
      {"range", Kind::kRange, A::kBoth},
      {"regex", Kind::kRegex, A::kPattern},
  };
  const size_t open = text.find('(');
  const std::string_view name = text.substr(0, open);
  const bool closed = open != text.npos && text.ends_with(')');
  const std::string_view arguments =
      closed ? text.substr(open + 1, text.size() - open - 2) : std::string_view{};
  const Row* row = std::find_if(std::begin(kRows), std::end(kRows),
                                [name](const Row& r) { return EqualWithoutCase(r.name, name); });
  if (row == std::end(kRows) || (open != text.npos) != (row->arguments != A::kNone)) return;
  if (row->arguments == A::kPattern) {
    kind_ = row->kind;
    regex_ = SmallRegex::Compile(arguments);
    return;
  }
  if (row->arguments != A::kNone) {
    const size_t comma = arguments.find(',');
    const bool two = comma != arguments.npos;
    const auto first = ParseInteger(arguments.substr(0, comma));
    const auto second = two ? ParseInteger(arguments.substr(comma + 1)) : first;
    if (!first || !second || (two ? row->arguments < A::kBoth : row->arguments == A::kBoth)) return;
    least_ = row->arguments == A::kMost ? std::numeric_limits<int64_t>::min() : *first;
    most_ = row->arguments == A::kLeast ? std::numeric_limits<int64_t>::max() : *second;
  }
  kind_ = row->kind;
}

Fit RouteConstraint::Check(std::string_view value) const {
  switch (kind_) {
    case Kind::kUnknown:
      return Fit::kMaybe;
    case Kind::kInt: {
      const auto v = ParseInteger(value);
      return FitOf(v && *v >= std::numeric_limits<int32_t>::min() &&
                   *v <= std::numeric_limits<int32_t>::max());
    }
    case Kind::kLong:
      return FitOf(ParseInteger(value).has_value());
    case Kind::kBool:
      return FitOf(IsBoolean(value));
    case Kind::kGuid:
      return value.starts_with("{0") ? Fit::kMaybe : FitOf(IsGuid(value));
    case Kind::kDecimal:
      return !IsDecimal(value) ? Fit::kNo : value.size() <= 28 ? Fit::kYes : Fit::kMaybe;
    case Kind::kFloat:
      return FitOf(IsFloat(value));
    case Kind::kDate:
      return CouldBeDate(value) ? Fit::kMaybe : Fit::kNo;
    case Kind::kAlpha:
      return FitOf(IsAlpha(value));
    case Kind::kRegex: {
      const bool plain =
          std::all_of(value.begin(), value.end(), [](char c) { return c > '\n' && c < 0x7F; });
      return regex_ && plain ? FitOf(regex_->Matches(value)) : Fit::kMaybe;
    }
    case Kind::kLength: {
      const auto length = static_cast<int64_t>(Utf16Units(value));
      return FitOf(length >= least_ && length <= most_);
    }
    case Kind::kRange: {
      const auto v = ParseInteger(value);
      return FitOf(v && *v >= least_ && *v <= most_);
    }
    case Kind::kFile:
      return FitOf(IsFileName(value));
    case Kind::kNonFile:
      return FitOf(!IsFileName(value));
    case Kind::kRequired:
      return FitOf(!value.empty());
  }
  return Fit::kMaybe;
}

Fit RouteConstraint::CheckMissing() const {
  return kind_ == Kind::kUnknown ? Fit::kMaybe : FitOf(kind_ == Kind::kNonFile);
}

std::optional<RouteTemplate> RouteTemplate::Parse(std::string_view text) {
  if (text.size() > kMostBytes) return std::nullopt;
  if (text.starts_with("~/")) text.remove_prefix(1);
  if (text.starts_with('/')) text.remove_prefix(1);
  RouteTemplate out;
  for (size_t at = 0; at < text.size();) {
    if (out.segments_.size() == kMostSegments || !out.ParseSegment(text, at)) return std::nullopt;
  }
  bool controller = false, action = false, fallback = false;
  out.rank_ += kAttributeOrder;
  for (size_t i = 0; i < out.segments_.size(); ++i) {
    const Segment& s = out.segments_[i];
    if (s.catch_all && i + 1 != out.segments_.size()) return std::nullopt;
    if (!s.catch_all && !s.may_be_missing) out.needed_ = i + 1;
    out.rank_ += PrecedenceDigit(s);
    if (!s.parts[0].is_parameter || s.parts.size() > 1) continue;
    const ActionPart part = PartOf(s);
    controller = controller || part == ActionPart::kController;
    action = action || part == ActionPart::kAction;
    fallback = s.catch_all && s.parts[0].constraints.size() == 1 &&
               s.parts[0].constraints[0].kind_ == RouteConstraint::Kind::kNonFile;
  }
  // MapControllerRoute and MapFallback give their routes an order of their own.
  if (controller && action) out.rank_[0] = kConventionalOrder;
  if (fallback) out.rank_[0] = kFallbackOrder;
  out.conventional_ = (controller || action) && !fallback;
  return out;
}

RouteTemplate::ActionPart RouteTemplate::PartOf(const Segment& segment) {
  if (segment.parts.size() > 1 || !segment.parts[0].is_parameter) return ActionPart::kNone;
  const std::string_view name = segment.parts[0].text;
  return EqualWithoutCase(name, "area")         ? ActionPart::kArea
         : EqualWithoutCase(name, "controller") ? ActionPart::kController
         : EqualWithoutCase(name, "action")     ? ActionPart::kAction
                                                : ActionPart::kNone;
}

std::string_view RouteTemplate::ActionKey(const RequestPath& path, size_t skip,
                                          std::span<char> room) const {
  size_t size = 0;
  for (size_t i = 0; i < segments_.size(); ++i) {
    if (PartOf(segments_[i]) == ActionPart::kNone) continue;
    const std::string_view value = ValueAt(segments_[i], path, skip + i);
    if (size + value.size() + 1 > room.size()) return {};
    for (const char c : value) room[size++] = LowerAscii(c);
    room[size++] = '/';
  }
  return {room.data(), size};
}

bool RouteTemplate::ActionIs(const RequestPath& path, size_t skip,
                             const ActionValues& values) const {
  bool area = HasLiteral();  // it may stand for one
  for (size_t i = 0; i < segments_.size(); ++i) {
    const ActionPart part = PartOf(segments_[i]);
    if (part == ActionPart::kNone) continue;
    area = area || part == ActionPart::kArea;
    const std::string& is = part == ActionPart::kArea         ? values.area
                            : part == ActionPart::kController ? values.controller
                                                              : values.action;
    if (!EqualWithoutCase(ValueAt(segments_[i], path, skip + i), is)) return false;
  }
  return area || values.area.empty();
}

std::string RouteTemplate::OfAction(const ActionValues& values) const {
  std::string out;
  for (const Segment& s : segments_) {
    if (!out.empty()) out += '/';
    const ActionPart part = PartOf(s);
    out += part == ActionPart::kArea         ? values.area
           : part == ActionPart::kController ? values.controller
           : part == ActionPart::kAction     ? values.action
                                             : s.text;
  }
  return out;
}

// Reads the segment at `at`, and the slash after it.
bool RouteTemplate::ParseSegment(std::string_view text, size_t& at) {
  Segment segment;
  std::string literal;
  const size_t begin = at;
  const auto add_literal = [&segment, &literal] {
    if (!literal.empty())
      segment.parts.push_back({std::exchange(literal, {}), false, false, {}, {}});
  };
  for (; at < text.size() && text[at] != '/'; ++at) {
    const char c = text[at];
    const bool twice = at + 1 < text.size() && text[at + 1] == c;
    if (c == '{' && !twice) {
      const size_t end = ParameterEnd(text, at);
      // Two parameters have something between them.
      if (end == text.npos || (literal.empty() && !segment.parts.empty())) return false;
      add_literal();
      if (!ParseParameter(UnescapeBraces(text.substr(at + 1, end - at - 1)), segment)) return false;
      at = end;
      continue;
    }
    if (c == '?' || (c == '}' && !twice)) return false;
    if (c == '{' || c == '}') ++at;
    literal += c;
  }
  add_literal();
  segment.text = text.substr(begin, at - begin);
  if (at < text.size()) ++at;
  if (segment.parts.empty() || segment.parts.size() > kMostParts) return false;
  if (segment.catch_all && segment.parts.size() > 1) return false;
  for (size_t i = 0; segment.parts.size() > 1 && i < segment.parts.size(); ++i) {
    // Only at the end, and only after a full stop.
    if (segment.parts[i].optional &&
        (i + 1 != segment.parts.size() || i == 0 || segment.parts[i - 1].text != "."))
      return false;
  }
  if (segment.parts.size() > 1) segment.may_be_missing = false;
  segments_.push_back(std::move(segment));
  return true;
}

bool RouteTemplate::ParseParameter(std::string_view inside, Segment& segment) {
  Part part;
  part.is_parameter = true;
  const bool catch_all = inside.starts_with('*');
  if (catch_all) inside.remove_prefix(inside.starts_with("**") ? 2 : 1);
  if (inside.ends_with('?')) {
    part.optional = true;
    inside.remove_suffix(1);
  }
  // A name may begin with what would end it.
  const size_t name_end = std::min(inside.find_first_of(":=", 1), inside.size());
  part.text = inside.substr(0, name_end);
  if (part.text.empty() || part.text.find_first_of("/{}?*") != part.text.npos) return false;
  inside.remove_prefix(name_end);
  while (inside.starts_with(':')) {
    inside.remove_prefix(1);
    const size_t end = ConstraintEnd(inside);
    if (end > 0) part.constraints.emplace_back(inside.substr(0, end));
    inside.remove_prefix(end);
  }
  const bool has_default = inside.starts_with('=');
  if (part.optional && (has_default || catch_all)) return false;
  if (has_default) part.fallback = inside.substr(1);
  segment.catch_all = segment.catch_all || catch_all;
  segment.may_be_missing = part.optional || has_default;
  segment.parts.push_back(std::move(part));
  return true;
}

char RouteTemplate::PrecedenceDigit(const Segment& segment) {
  if (segment.parts.size() > 1) return '2';
  const Part& part = segment.parts[0];
  if (!part.is_parameter) return '1';
  const bool constrained = !part.constraints.empty();
  if (segment.catch_all) return constrained ? '4' : '5';
  return constrained ? '2' : '3';
}

std::optional<std::string_view> RouteTemplate::Literal(size_t i) const {
  const Segment& s = segments_[i];
  if (s.parts.size() > 1 || s.parts[0].is_parameter) return std::nullopt;
  return s.parts[0].text;
}

bool RouteTemplate::HasLiteral() const {
  for (size_t i = 0; i < segments_.size(); ++i)
    if (Literal(i)) return true;
  return false;
}

Fit RouteTemplate::Match(const RequestPath& path, size_t skip) const {
  Fit fit = Fit::kYes;
  size_t at = skip;
  for (const Segment& segment : segments_) {
    if (segment.catch_all) {
      for (const RouteConstraint& c : segment.parts[0].constraints)
        fit = std::min(fit, at < path.size()         ? c.Check(path.From(at))
                            : segment.may_be_missing ? Fit::kMaybe
                                                     : c.CheckMissing());
      return fit;
    }
    if (at >= path.size()) {
      if (!segment.may_be_missing) return Fit::kNo;
      continue;
    }
    fit = std::min(fit, MatchSegment(segment, path[at++]));
    if (fit == Fit::kNo) return fit;
  }
  return at >= path.size() ? fit : Fit::kNo;
}

Fit RouteTemplate::MatchSegment(const Segment& segment, std::string_view text) {
  if (segment.parts.size() > 1) {
    const Fit whole = MatchParts(segment, segment.parts.size(), text);
    if (whole != Fit::kNo || !segment.parts.back().optional || text.ends_with('.')) return whole;
    return MatchParts(segment, segment.parts.size() - 2, text);
  }
  const Part& part = segment.parts[0];
  if (!part.is_parameter) return FitOf(EqualWithoutCase(part.text, text));
  if (text.empty()) return Fit::kNo;
  Fit fit = Fit::kYes;
  for (const RouteConstraint& c : part.constraints) fit = std::min(fit, c.Check(text));
  return fit;
}

// From the right: a literal stands at the last place where it leaves something for the parameter
// after it, and what is between literals is a parameter's value.
Fit RouteTemplate::MatchParts(const Segment& segment, size_t parts, std::string_view text) {
  Fit fit = Fit::kYes;
  const Part* open = nullptr;  // a parameter that ends where `text` does
  for (size_t i = parts; i-- > 0;) {
    const Part& part = segment.parts[i];
    if (part.is_parameter) {
      open = &part;
      continue;
    }
    if (text.empty()) return Fit::kNo;
    const size_t at = FindLastWithoutCase(text.substr(0, text.size() - (open ? 1 : 0)), part.text);
    if (at == text.npos) return Fit::kNo;
    const size_t end = at + part.text.size();
    // The first literal begins the text, and the last one ends it.
    if ((i == 0 && at != 0) || (open == nullptr && end != text.size())) return Fit::kNo;
    if (open != nullptr)
      for (const RouteConstraint& c : open->constraints)
        fit = std::min(fit, c.Check(text.substr(end)));
    open = nullptr;
    text = text.substr(0, at);
  }
  if (open == nullptr) return fit;
  if (text.empty()) return Fit::kNo;
  for (const RouteConstraint& c : open->constraints) fit = std::min(fit, c.Check(text));
  return fit;
}

}  // namespace clrscope::analysis
