// SPDX-License-Identifier: Apache-2.0
// Which of the route templates that are known a request belongs to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/families/requests/action_verdicts.h"
#include "analysis/families/requests/request_path.h"
#include "analysis/families/requests/route_template.h"
#include "base/flat_map.h"

namespace clrscope::analysis {

// Templates are learned one by one, as the metric tells them. Finding one allocates nothing.
class RouteMatcher {
 public:
  static constexpr uint32_t kNone = ~0u;
  static constexpr size_t kMostTemplates = 4096;
  static constexpr size_t kMostSkipped = 3;
  static constexpr std::string_view kAnyMethod = "*";

  struct Found {
    uint32_t index = kNone;  // of the template
    // Where `index` rests on a constraint that is not understood: the best one that does not.
    uint32_t other = kNone;
    uint8_t skipped = 0;     // segments of the path that are a base, which templates lack
    bool certain = false;    // no constraint had to be guessed
    bool ambiguous = false;  // another template of the same rank fits as well
    explicit operator bool() const { return index != kNone; }
  };
  // Templates that a path may be of, as far as is known.
  enum class Guess : uint8_t {
    kAny,
    kUnspent,  // not of MVC's conventional ones that SetSpent() has ruled out
  };

  RouteMatcher();

  // The index of the template: 0, 1, 2 …, the same one for the same method and text. kNone when
  // the text is no template, or there are too many. `method`: as the metric tells it, where methods
  // that are not known are "_OTHER"; kAnyMethod: it is not known of which, and only a Find() with
  // kAnyMethod finds it.
  uint32_t Add(std::string_view method, std::string_view text);

  // The template that the program takes for the request, as far as the templates are known.
  // `method` and `path`: as clr::RequestStart tells them, in UTF-8. `skip`: segments at the
  // beginning of the path that are a base, at most kMostSkipped.
  Found Find(std::string_view method, std::string_view path, size_t skip = 0,
             Guess guess = Guess::kAny) const;
  // When the whole path fits nothing: a path without its first one to three segments, which
  // UsePathBase or a proxy's prefix leave in it. Only templates that have a literal, and
  // conventional ones with an action that is known.
  Found FindWithBase(std::string_view method, std::string_view path) const;
  // The same, though the whole path fits something.
  Found FindBehindBase(std::string_view method, std::string_view path) const;

  size_t size() const { return templates_.size(); }
  const std::string& text(uint32_t index) const { return templates_[index].text; }
  bool has_literal(uint32_t index) const { return templates_[index].route.HasLiteral(); }
  const RouteTemplate& route(uint32_t index) const { return templates_[index].route; }

  // The program has told which action a request with that path was for; nullptr: that no template
  // fits it. Conventional templates alone are concerned.
  void Learn(std::string_view method, std::string_view path, const ActionValues* values);
  // Every request that the runtime counts to the template is known already.
  void SetSpent(uint32_t index, bool spent) { templates_[index].spent = spent; }

 private:
  static constexpr size_t kMethods = 11;  // with kAnyMethod
  struct Template {
    std::string text;
    RouteTemplate route;
    bool spent = false;
  };
  // A tree by segments; literals as an edge each, everything else as one.
  struct Node {
    uint32_t any = kNone;
    std::vector<uint32_t> here;       // templates that may end here
    std::vector<uint32_t> catch_all;  // those that take whatever follows
  };
  struct Best {
    uint32_t index = kNone;
    bool ambiguous = false;
  };
  // A path that is looked for, and what fits it.
  struct Query {
    const RequestPath& path;
    size_t skip;
    bool behind_base, base_known;
    Guess guess;
    std::vector<uint32_t>* conventional;  // all that fit; nullptr: nobody asks
    Best certain, guessed;
    std::array<uint32_t, RequestPath::kMostSegments> hashes;
  };

  static size_t MethodIndex(std::string_view method);
  uint32_t NewNode();
  Found FindIn(size_t method, const RequestPath& path, size_t skip, bool behind_base, Guess guess,
               std::vector<uint32_t>* conventional = nullptr) const;
  Fit FitOf(uint32_t index, const Query& query) const;
  void Walk(uint32_t node, size_t at, Query& query) const;
  void Try(const std::vector<uint32_t>& indices, Query& query) const;

  std::vector<Template> templates_;
  std::unordered_map<std::string, uint32_t> known_;  // by method and text
  std::vector<Node> nodes_;                          // the first ones are the methods' roots
  FlatMap literals_;                                 // (node, hash of the segment) → node
  ActionVerdicts verdicts_;
};

}  // namespace clrscope::analysis
