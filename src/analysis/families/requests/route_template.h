// SPDX-License-Identifier: Apache-2.0
// A route template of ASP.NET Core, as the metric http.route tells it: "/items/{id:int}",
// "{controller=Home}/{action=Index}/{id?}", "/a/{x}.{ext?}", "/{*path:nonfile}".
// Sources: dotnet/aspnetcore src/Http/Routing/src: Patterns/RoutePatternParser.cs,
// Patterns/RouteParameterParser.cs, Patterns/RoutePatternMatcher.cs (segments of several parts),
// Matching/DfaMatcherBuilder.cs (what may end where), Template/RoutePrecedence.cs, Constraints/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/families/requests/request_path.h"
#include "analysis/families/requests/small_regex.h"

namespace clrscope::analysis {

// Ordered: what holds of several is the least of them.
enum class Fit : uint8_t {
  kNo,
  kMaybe,  // a constraint decides that is not understood: the program's own, some expressions
  kYes,
};

// One of the constraints after a parameter's name.
class RouteConstraint {
 public:
  explicit RouteConstraint(std::string_view text);  // "range(1,5)"

  Fit Check(std::string_view value) const;
  // Of a catch-all that is left without a value.
  Fit CheckMissing() const;

 private:
  friend class RouteTemplate;
  enum class Kind : uint8_t {
    kUnknown,
    kInt,
    kLong,
    kBool,
    kGuid,
    kDecimal,
    kFloat,
    kDate,
    kAlpha,
    kRegex,
    kLength,
    kRange,
    kFile,
    kNonFile,
    kRequired,
  };
  Kind kind_ = Kind::kUnknown;
  int64_t least_ = 0, most_ = 0;     // of a length or a range
  std::optional<SmallRegex> regex_;  // none: not understood
};

struct ActionValues;

class RouteTemplate {
 public:
  static constexpr size_t kMostSegments = 28;  // ASP.NET Core's limit
  static constexpr size_t kMostParts = 16;     // in a segment
  static constexpr size_t kMostBytes = 2048;

  // Nothing for a text that ASP.NET Core would refuse, too, and for one beyond the limits.
  static std::optional<RouteTemplate> Parse(std::string_view text);

  // Whether the path without its first `skip` segments is one of this template's.
  Fit Match(const RequestPath& path, size_t skip = 0) const;

  // Less is better: of several templates that match, the program takes the one of the least rank.
  // Routes by order first (attributes and minimal APIs, then conventional ones, then fallbacks), in
  // an order by precedence: from left to right a literal, a segment with constraints or several
  // parts, a parameter, a catch-all with constraints, a catch-all.
  const std::string& rank() const { return rank_; }

  // Its segments, for an index.
  size_t size() const { return segments_.size(); }
  // The segment's text, if it is one and no parameter.
  std::optional<std::string_view> Literal(size_t i) const;
  bool IsCatchAll(size_t i) const { return segments_[i].catch_all; }
  // Whether a path may end before segment `i`, a catch-all aside. `i` may be size().
  bool MayEndBefore(size_t i) const { return i >= needed_; }
  // Whether any segment is a literal.
  bool HasLiteral() const;

  // Of MVC: its action is told by the path. Whether there is one, the template does not tell.
  bool IsConventional() const { return conventional_; }
  // What a path that fits makes of area, controller and action, in lower case, into `room`; empty:
  // it has no room for them.
  std::string_view ActionKey(const RequestPath& path, size_t skip, std::span<char> room) const;
  // Whether these are the values of a request with that path.
  bool ActionIs(const RequestPath& path, size_t skip, const ActionValues& values) const;
  // The template's text with an action's values in place of these parameters: "Home/Index/{id?}".
  std::string OfAction(const ActionValues& values) const;

 private:
  struct Part {
    std::string text;  // a literal, or a parameter's name
    bool is_parameter = false;
    bool optional = false;
    std::vector<RouteConstraint> constraints;
    std::string fallback{};  // a parameter's value where the path has none
  };
  struct Segment {
    std::vector<Part> parts;
    bool catch_all = false;
    bool may_be_missing = false;  // one parameter that is optional, or has a default
    std::string text{};           // as it is in the template
  };
  enum class ActionPart : uint8_t { kNone, kArea, kController, kAction };

  bool ParseSegment(std::string_view text, size_t& at);
  bool ParseParameter(std::string_view inside, Segment& segment);
  static char PrecedenceDigit(const Segment& segment);
  static Fit MatchSegment(const Segment& segment, std::string_view text);
  // The segment's first `parts` parts.
  static Fit MatchParts(const Segment& segment, size_t parts, std::string_view text);

  static ActionPart PartOf(const Segment& segment);
  // Of a segment of that part.
  static std::string_view ValueAt(const Segment& segment, const RequestPath& path, size_t at) {
    return at < path.size() ? path[at] : std::string_view(segment.parts[0].fallback);
  }

  std::vector<Segment> segments_;
  bool conventional_ = false;
  std::string rank_;
  size_t needed_ = 0;  // segments that a path must have
};

}  // namespace clrscope::analysis
