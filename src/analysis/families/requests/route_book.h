// SPDX-License-Identifier: Apache-2.0
// The routes of a process: templates that the runtime's histogram told, and what stands in for
// them. Bounded; what has no room is (other).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/families/requests/route_matcher.h"
#include "base/string_pool.h"
#include "profile/tables/process_tables.h"

namespace clrscope::analysis {

class RouteBook {
 public:
  static constexpr uint32_t kNone = ~0u;
  // Paths that are kept before their template is known, each of another shape.
  static constexpr size_t kMostTemplates = 2000, kMostPaths = 1000;

  RouteBook(StringPool* strings, profile::ProcessTables* tables)
      : strings_(strings), tables_(tables) {}

  // Different ones, of the program's own.
  static constexpr size_t kMostActivities = 300, kMostActions = 1000;

  // All return an index into the tables' routes. Methods are those of HTTP; any other is "_OTHER",
  // as the histogram has it.
  uint32_t Template(std::string_view method, std::string_view route);
  uint32_t NoRoute(std::string_view method);
  uint32_t OfPath(std::string_view method, std::string_view path);
  uint32_t Other() { return Only(profile::RouteKind::kOther, "", "", "(other)"); }
  uint32_t After() { return Only(profile::RouteKind::kAfter, "", "", "(after)"); }
  uint32_t Activity(std::string_view name);
  // The template that a path matches; kNone: none that is known.
  uint32_t Match(std::string_view method, std::string_view path);
  // The same, of a request that ended; `counted`: in a time of which the histogram has told. Where
  // a path fits a template without a literal ("{controller}/{action}/{id?}") and, behind a base,
  // one that has some, or it is not known whether there is such an action, what the histogram
  // counted decides. `values`: of this request, if it was told.
  uint32_t MatchEnded(std::string_view method, std::string_view path, bool counted,
                      const ActionValues* values = nullptr);
  // It is not known whether there is such an action.
  bool IsUndecided(std::string_view method, std::string_view path) const;
  // Requests of which that was not known.
  uint64_t undecided() const { return undecided_; }
  // The program has told which action a request with that path was for; nullptr: that it is of no
  // template.
  void Learn(std::string_view method, std::string_view path, const ActionValues* values) {
    matcher_.Learn(KnownMethod(method), path, values);
  }
  // Conventional routes by action: routes of their own, where it is told.
  void SplitActions() { split_ = true; }
  // The histogram counts so many more; `bad`: they failed, or were refused.
  void Count(std::string_view method, std::string_view route, uint64_t count, bool bad);
  // An interval of the histogram ends. Returns how many of the bad ones that it told of before, at
  // templates that hardly any request asks for, are of no request: by now those are known.
  uint64_t CountReexecuted();
  void CountUnrouted(std::string_view method, uint64_t count) {
    unrouted_[std::string(KnownMethod(method))].counted += count;
  }
  // Routing found the template so many times more, for requests of whatever method. Templates whose
  // requests all run again for an error page are in no histogram: this is how they are known.
  // Returns the route of what is counted so.
  uint32_t CountMatched(std::string_view route, uint64_t count);
  // Routing found no template.
  uint32_t CountUnmatched(uint64_t count) {
    unmatched_.counted += count;
    return Only(profile::RouteKind::kNoRoute, "", "", "nothing matched");
  }
  // From now on not every request is seen.
  void SetPartial() { partial_ = true; }

  // The routes of other tables; templates stay known.
  void MoveTo(StringPool* strings, profile::ProcessTables* tables);

  static std::string_view KnownMethod(std::string_view method);

 private:
  uint32_t Only(profile::RouteKind kind, std::string_view method, std::string_view text,
                std::string_view key);
  uint32_t Add(profile::RouteKind kind, std::string_view method, std::string_view text);
  static constexpr size_t kMostBases = 100;
  struct Known {
    std::string method, text;
    uint32_t route = kNone;  // kNone: not in these tables yet
    uint64_t counted = 0, matched = 0;
    uint64_t bad = 0, bad_before = 0;      // of `counted`; before this interval
    bool told = false;                     // by the histogram: paths of the method may be of it
    uint32_t match = RouteMatcher::kNone;  // its number there
  };
  // A template of whatever method: how often routing found it, and of how many requests that is
  // known.
  struct Matched {
    uint64_t counted = 0, seen = 0;
    std::vector<uint32_t> numbers{};  // of templates_: of each method
  };
  // Of requests without a route, by method.
  struct Unrouted {
    uint64_t counted = 0, matched = 0;
  };
  uint32_t RouteOf(Known& known);
  // Not every request that it is known to have had is known.
  bool IsLeft(const Known& known) const;
  uint32_t NumberOf(std::string_view method, std::string_view route, bool told);
  const std::string* FindMatched(std::string_view method, std::string_view path,
                                 const RouteMatcher::Found& found, bool unrouted_left) const;
  uint32_t ActionOf(Known& known, const RouteTemplate& route, const ActionValues& values);
  void Note(const Known& known);

  StringPool* strings_;
  profile::ProcessTables* tables_;
  RouteMatcher matcher_;
  std::vector<Known> templates_;
  std::vector<uint32_t> by_match_;                     // by the matcher's number: of templates_
  std::unordered_map<std::string, uint32_t> numbers_;  // method and template → of templates_
  std::unordered_map<std::string, uint32_t> others_;   // what else there is
  size_t paths_ = 0, activities_ = 0, actions_ = 0;
  std::map<std::string, Unrouted, std::less<>> unrouted_;
  // By the text of a base: for it, and against it.
  std::unordered_map<std::string, int64_t> bases_;
  std::unordered_map<std::string, Matched> matched_;  // by template
  Unrouted unmatched_;                                // of all methods
  std::string key_;
  uint64_t undecided_ = 0;
  bool partial_ = false;
  bool split_ = false;
};

}  // namespace clrscope::analysis
