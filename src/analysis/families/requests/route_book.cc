// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/route_book.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/families/requests/request_path.h"
#include "analysis/families/requests/route_template.h"

namespace clrscope::analysis {

using profile::RouteKind;

std::string_view RouteBook::KnownMethod(std::string_view method) {
  // Source: dotnet/aspnetcore HostingTelemetryHelpers.cs; letters of either case.
  static constexpr std::array<std::string_view, 9> kMethods = {
      "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT"};
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; };
  for (const std::string_view known : kMethods) {
    if (known.size() != method.size()) continue;
    size_t i = 0;
    while (i < known.size() && known[i] == upper(method[i])) ++i;
    if (i == known.size()) return known;
  }
  return "_OTHER";
}

uint32_t RouteBook::Add(RouteKind kind, std::string_view method, std::string_view text) {
  auto& routes = tables_->requests.routes;
  ++tables_->requests.changes;
  routes.push_back({kind, strings_->Intern(method), strings_->Intern(text), 0});
  return static_cast<uint32_t>(routes.size() - 1);
}

uint32_t RouteBook::Only(RouteKind kind, std::string_view method, std::string_view text,
                         std::string_view key) {
  key_.assign(key);
  const auto known = others_.find(key_);
  if (known != others_.end()) return known->second;
  return others_[key_] = Add(kind, method, text);
}

uint32_t RouteBook::NumberOf(std::string_view method, std::string_view route, bool told) {
  key_.assign(method).append(" ").append(route);
  const auto known = numbers_.find(key_);
  uint32_t number;
  if (known != numbers_.end()) {
    number = known->second;
  } else {
    if (templates_.size() >= kMostTemplates) return kNone;
    number = static_cast<uint32_t>(templates_.size());
    numbers_.emplace(key_, number);
    templates_.push_back({std::string(method), std::string(route)});
    matched_[std::string(route)].numbers.push_back(number);
  }
  if (!told || std::exchange(templates_[number].told, true)) return number;
  const uint32_t match = templates_[number].match = matcher_.Add(method, route);
  if (match == RouteMatcher::kNone) return number;
  if (match >= by_match_.size()) by_match_.resize(match + 1, 0);
  by_match_[match] = number;
  if (matcher_.route(match).IsConventional()) ++undecided_;  // its actions are to be learned
  return number;
}

uint32_t RouteBook::Template(std::string_view method, std::string_view route) {
  const uint32_t number = NumberOf(KnownMethod(method), route, true);
  return number == kNone ? Other() : RouteOf(templates_[number]);
}

uint32_t RouteBook::CountMatched(std::string_view route, uint64_t count) {
  if (matched_.size() >= kMostTemplates && !matched_.contains(std::string(route))) return Other();
  Matched& matched = matched_[std::string(route)];
  matched.counted += count;
  (void)matcher_.Add(RouteMatcher::kAnyMethod, route);
  for (const uint32_t number : matched.numbers) Note(templates_[number]);
  key_.assign("matches ").append(route);  // no method is so called
  return Only(RouteKind::kTemplate, "", route, std::string(key_));
}

// A template that routing has found for more requests than are known, and that it takes for the
// path rather than `found`; nullptr: none.
const std::string* RouteBook::FindMatched(std::string_view method, std::string_view path,
                                          const RouteMatcher::Found& found,
                                          bool unrouted_left) const {
  if (matched_.empty()) return nullptr;
  const auto conventional = [this](const RouteMatcher::Found& f) {
    return f && matcher_.route(f.index).IsConventional();
  };
  const bool guessed = !found || (conventional(found) && !found.certain);
  RouteMatcher::Found any = matcher_.Find(RouteMatcher::kAnyMethod, path);
  // Nearly every path fits a conventional one.
  if (guessed && (!any || conventional(any)))
    any = matcher_.FindBehindBase(RouteMatcher::kAnyMethod, path);
  if (!any || conventional(any)) return nullptr;
  if (!guessed && (found.skipped != 0 ||
                   matcher_.route(found.index).rank() <= matcher_.route(any.index).rank()))
    return nullptr;
  const auto known = matched_.find(matcher_.text(any.index));
  if (known == matched_.end() || known->second.counted == 0) return nullptr;
  const Matched& m = known->second;
  const bool others = std::any_of(m.numbers.begin(), m.numbers.end(), [&](uint32_t number) {
    return templates_[number].told && templates_[number].method != method;
  });
  // Behind a base, where the method has it by itself, the counts decide (MatchEnded).
  const bool by_itself = std::any_of(m.numbers.begin(), m.numbers.end(), [&](uint32_t number) {
    return templates_[number].told && templates_[number].method == method;
  });
  if (by_itself && any.skipped != 0) return nullptr;
  // What was matched before the counter began is in no count.
  constexpr uint64_t kUncounted = 32, kPart = 16;
  const uint64_t more = others ? 0 : std::max(kUncounted, m.counted / kPart);
  if (m.seen >= m.counted + more) return nullptr;
  // A method of which some have no route is refused (405), where others have the template.
  if (others && (found || unrouted_left)) return nullptr;
  return &known->first;
}

uint32_t RouteBook::NoRoute(std::string_view method) {
  method = KnownMethod(method);
  return Only(RouteKind::kNoRoute, method, "", method);
}

uint32_t RouteBook::OfPath(std::string_view method, std::string_view path) {
  method = KnownMethod(method);
  const std::string key = std::string(method) + " " + PathShape(path);
  const auto known = others_.find(key);
  if (known != others_.end()) return known->second;
  if (paths_ >= kMostPaths) return Other();
  ++paths_;
  return others_[key] = Add(RouteKind::kPath, method, path);
}

uint32_t RouteBook::Activity(std::string_view name) {
  // No method has a blank.
  key_.assign("an activity ").append(name);
  const auto known = others_.find(key_);
  if (known != others_.end()) return known->second;
  if (activities_ >= kMostActivities) return Other();
  ++activities_;
  return others_[key_] = Add(RouteKind::kActivity, "", name);
}

uint32_t RouteBook::Match(std::string_view method, std::string_view path) {
  method = KnownMethod(method);
  RouteMatcher::Found found = matcher_.Find(method, path);
  if (!found) found = matcher_.FindWithBase(method, path);
  if (!found) return kNone;
  return RouteOf(templates_[by_match_[found.index]]);
}

uint32_t RouteBook::RouteOf(Known& t) {
  if (t.route == kNone) t.route = Add(RouteKind::kTemplate, t.method, t.text);
  return t.route;
}

// A conventional route's action: a row of its own, below the template's.
uint32_t RouteBook::ActionOf(Known& t, const RouteTemplate& route, const ActionValues& values) {
  const std::string text = route.OfAction(values);
  // No method has a comma.
  key_.assign("an action, ").append(t.method).append(" ").append(text);
  const auto known = others_.find(key_);
  if (known != others_.end()) return known->second;
  if (actions_ >= kMostActions) return RouteOf(t);
  ++actions_;
  const std::string key = key_;
  const uint32_t of = RouteOf(t);
  const uint32_t added = Add(RouteKind::kAction, t.method, text);
  tables_->requests.routes[added].of = of;
  return others_[key] = added;
}

// What runs again for an error page is counted there, and matched here.
bool RouteBook::IsLeft(const Known& t) const {
  if (t.counted > t.matched) return true;
  const auto matches = matched_.find(t.text);
  return matches != matched_.end() && matches->second.counted > matches->second.seen;
}

// How many of its requests are known, or counted, has changed.
void RouteBook::Note(const Known& t) {
  if (t.match != RouteMatcher::kNone) matcher_.SetSpent(t.match, !IsLeft(t));
}

uint32_t RouteBook::MatchEnded(std::string_view method, std::string_view path, bool counted,
                               const ActionValues* values) {
  method = KnownMethod(method);
  using Guess = RouteMatcher::Guess;
  RouteMatcher::Found found =
      matcher_.Find(method, path, 0, counted ? Guess::kUnspent : Guess::kAny);
  const auto unrouted = unrouted_.find(method);
  const bool unrouted_left =
      unrouted != unrouted_.end() && unrouted->second.counted > unrouted->second.matched;
  const bool some_unrouted = unrouted_left || unmatched_.counted > unmatched_.matched;
  if (!found && counted && !some_unrouted) found = matcher_.Find(method, path);
  const auto conventional = [this](const RouteMatcher::Found& f) {
    return f && matcher_.route(f.index).IsConventional();
  };
  if (conventional(found) && !found.certain) ++undecided_;
  RouteMatcher::Found behind;
  if (!found || !(matcher_.has_literal(found.index) || (conventional(found) && found.certain)))
    behind = matcher_.FindBehindBase(method, path);
  // Of an action behind a base it is known that there is one.
  const bool surely = conventional(behind) && behind.certain;
  if (!found || surely) found = std::exchange(behind, {});
  if (const std::string* any =
          counted ? FindMatched(method, path, found, unrouted_left) : nullptr) {
    const uint32_t number = NumberOf(method, *any, false);
    if (number == kNone) return Other();
    ++matched_[*any].seen;
    ++templates_[number].matched;
    return RouteOf(templates_[number]);
  }
  if (!found) {
    if (unrouted != unrouted_.end()) ++unrouted->second.matched;
    ++unmatched_.matched;
    return kNone;
  }
  uint32_t match = found.index;
  if (behind) {
    Known &t = templates_[by_match_[match]], &other = templates_[by_match_[behind.index]];
    const RequestPath segments(path);
    key_.clear();
    for (size_t i = 0; i < behind.skipped; ++i) key_.append("/").append(segments[i]);
    const auto base = bases_.find(key_);
    int64_t votes = base != bases_.end() ? base->second : 0;
    if (IsLeft(t) != IsLeft(other)) {
      votes += IsLeft(other) ? 1 : -1;
      if (base != bases_.end())
        base->second = votes;
      else if (bases_.size() < kMostBases)
        bases_.emplace(key_, votes);
    }
    if (votes > 0) match = behind.index;
  }
  Known& t = templates_[by_match_[match]];
  ++t.matched;
  ++matched_[t.text].seen;
  Note(t);
  const RouteTemplate& route = matcher_.route(match);
  if (split_ && values != nullptr && route.IsConventional()) return ActionOf(t, route, *values);
  return RouteOf(t);
}

bool RouteBook::IsUndecided(std::string_view method, std::string_view path) const {
  const RouteMatcher::Found found = matcher_.Find(KnownMethod(method), path);
  return found && !found.certain && matcher_.route(found.index).IsConventional();
}

void RouteBook::Count(std::string_view method, std::string_view route, uint64_t count, bool bad) {
  method = KnownMethod(method);
  key_.assign(method).append(" ").append(route);
  const auto known = numbers_.find(key_);
  if (known == numbers_.end()) return;
  templates_[known->second].counted += count;
  templates_[known->second].bad += bad ? count : 0;
  Note(templates_[known->second]);
}

uint64_t RouteBook::CountReexecuted() {
  // Where not every request is seen, so many have not been seen by chance.
  constexpr uint64_t kUnseen = 20;
  uint64_t sum = 0;
  for (Known& t : templates_) {
    const bool page =
        partial_ ? t.matched == 0 && t.bad_before >= kUnseen : 2 * t.matched < t.bad_before;
    if (page) sum += t.bad_before - t.matched;
    t.bad_before = t.bad;
  }
  return sum;
}

void RouteBook::MoveTo(StringPool* strings, profile::ProcessTables* tables) {
  strings_ = strings;
  tables_ = tables;
  for (Known& t : templates_) t.route = kNone;
  others_.clear();
  paths_ = activities_ = actions_ = 0;
}

}  // namespace clrscope::analysis
