// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/route_book.h"

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

uint32_t RouteBook::Template(std::string_view method, std::string_view route) {
  method = KnownMethod(method);
  key_.assign(method).append(" ").append(route);
  const auto known = numbers_.find(key_);
  uint32_t number;
  if (known != numbers_.end()) {
    number = known->second;
  } else {
    if (templates_.size() >= kMostTemplates) return Other();
    number = static_cast<uint32_t>(templates_.size());
    const uint32_t match = matcher_.Add(method, route);
    if (match != RouteMatcher::kNone && match >= by_match_.size()) by_match_.resize(match + 1, 0);
    if (match != RouteMatcher::kNone) by_match_[match] = number;
    numbers_.emplace(key_, number);
    templates_.push_back({std::string(method), std::string(route), kNone});
  }
  Known& t = templates_[number];
  if (t.route == kNone) t.route = Add(RouteKind::kTemplate, t.method, t.text);
  return t.route;
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

uint32_t RouteBook::MatchEnded(std::string_view method, std::string_view path) {
  method = KnownMethod(method);
  RouteMatcher::Found found = matcher_.Find(method, path);
  RouteMatcher::Found behind;
  if (!found || !matcher_.has_literal(found.index)) behind = matcher_.FindBehindBase(method, path);
  if (!found) found = std::exchange(behind, {});
  if (!found) return kNone;
  Known* t = &templates_[by_match_[found.index]];
  if (behind) {
    Known& other = templates_[by_match_[behind.index]];
    const RequestPath segments(path);
    key_.clear();
    for (size_t i = 0; i < behind.skipped; ++i) key_.append("/").append(segments[i]);
    const auto base = bases_.find(key_);
    int64_t votes = base != bases_.end() ? base->second : 0;
    if (t->Left() != other.Left()) {
      votes += other.Left() ? 1 : -1;
      if (base != bases_.end())
        base->second = votes;
      else if (bases_.size() < kMostBases)
        bases_.emplace(key_, votes);
    }
    if (votes > 0) t = &other;
  }
  ++t->matched;
  return RouteOf(*t);
}

void RouteBook::Count(std::string_view method, std::string_view route, uint64_t count) {
  key_.assign(KnownMethod(method)).append(" ").append(route);
  if (const auto known = numbers_.find(key_); known != numbers_.end())
    templates_[known->second].counted += count;
}

void RouteBook::MoveTo(StringPool* strings, profile::ProcessTables* tables) {
  strings_ = strings;
  tables_ = tables;
  for (Known& t : templates_) t.route = kNone;
  others_.clear();
  paths_ = activities_ = 0;
}

}  // namespace clrscope::analysis
