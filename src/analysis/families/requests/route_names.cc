// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/route_names.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

#include "analysis/families/requests/route_matcher.h"
#include "analysis/families/requests/route_template.h"
#include "profile/requests.h"

namespace clrscope::analysis {
namespace {

using profile::LabelKey;
using profile::RequestRoute;
using profile::RouteKind;

// Of no method: what routing matched, which no request is counted to.
constexpr std::string_view kOfAnyMethod = "(any method)";

std::string TemplateName(std::string_view method, std::string_view text) {
  if (method.empty()) method = kOfAnyMethod;
  return fmt::format("{} {}{}", method, text.starts_with('/') ? "" : "/", text);
}

// The statuses of requests without a route, by method.
std::map<StringId, std::set<uint32_t>> StatusesWithoutRoute(const profile::ProcessTables& t) {
  std::map<StringId, std::set<uint32_t>> out;
  for (const profile::LabelSet& set : t.labels.sets()) {
    const uint64_t route = set[LabelKey::kRequest];
    if (route == 0 || route > t.requests.routes.size() || set[LabelKey::kStatus] == 0) continue;
    const RequestRoute& r = t.requests.routes[route - 1];
    if (r.kind == RouteKind::kNoRoute)
      out[r.method].insert(static_cast<uint32_t>(set[LabelKey::kStatus] >> 1));
  }
  return out;
}

// Routes with requests that went on at the end, of which the runtime has told no template yet.
std::set<uint64_t> RoutesThatGoOn(const profile::ProcessTables& t) {
  std::set<uint64_t> out;
  for (const profile::LabelSet& set : t.labels.sets())
    if (set[LabelKey::kRequestPart] == static_cast<uint64_t>(profile::RequestPart::kUnended))
      out.insert(set[LabelKey::kRequest]);
  return out;
}

}  // namespace

std::vector<std::string> RouteNames(const profile::ProcessTables& t, const StringPool& strings) {
  const std::map<StringId, std::set<uint32_t>> statuses = StatusesWithoutRoute(t);
  const std::set<uint64_t> go_on = RoutesThatGoOn(t);
  RouteMatcher matcher;
  std::vector<std::string> templates;  // by the matcher's number
  bool any = false;
  for (const RequestRoute& r : t.requests.routes) {
    any = any || ((r.kind == RouteKind::kTemplate || r.kind == RouteKind::kNoRoute) &&
                  !strings.Get(r.method).empty());
    if (r.kind != RouteKind::kTemplate) continue;
    const bool of_any = strings.Get(r.method).empty();
    const uint32_t match =
        matcher.Add(of_any ? RouteMatcher::kAnyMethod : strings.Get(r.method), strings.Get(r.text));
    if (match == RouteMatcher::kNone) continue;
    if (match >= templates.size()) templates.resize(match + 1);
    templates[match] = TemplateName(strings.Get(r.method), strings.Get(r.text));
  }
  const auto without_route = [&](const RequestRoute& r) {
    if (strings.Get(r.method).empty()) return fmt::format("{} (no route)", kOfAnyMethod);
    const auto known = statuses.find(r.method);
    const bool one = known != statuses.end() && known->second.size() == 1;
    return one ? fmt::format("{} ({})", strings.Get(r.method), *known->second.begin())
               : fmt::format("{} (no route)", strings.Get(r.method));
  };
  std::vector<std::string> names;
  for (const RequestRoute& r : t.requests.routes) {
    switch (r.kind) {
      case RouteKind::kTemplate:
      case RouteKind::kAction:
        names.push_back(TemplateName(strings.Get(r.method), strings.Get(r.text)));
        break;
      case RouteKind::kNoRoute:
        names.push_back(without_route(r));
        break;
      case RouteKind::kPath: {
        RouteMatcher::Found found = matcher.Find(strings.Get(r.method), strings.Get(r.text));
        if (!found) found = matcher.FindWithBase(strings.Get(r.method), strings.Get(r.text));
        // One that routing found, and of which the histogram knows nothing.
        if (!found) {
          const RouteMatcher::Found of_any =
              matcher.Find(RouteMatcher::kAnyMethod, strings.Get(r.text));
          if (of_any && !matcher.route(of_any.index).IsConventional()) {
            names.push_back(TemplateName(strings.Get(r.method), matcher.text(of_any.index)));
            break;
          }
        }
        if (found)
          names.push_back(templates[found.index]);
        else if (any && !go_on.contains(names.size() + 1))
          names.push_back(without_route(r));
        else
          names.push_back(
              fmt::format("{} {}", strings.Get(r.method), PathShape(strings.Get(r.text))));
        break;
      }
      case RouteKind::kActivity:
        names.push_back(fmt::format("activity {}", strings.Get(r.text)));
        break;
      case RouteKind::kAfter:
        names.emplace_back(profile::kAfterResponse);
        break;
      case RouteKind::kOther:
        names.emplace_back(profile::kOtherRoutes);
        break;
    }
  }
  return names;
}

}  // namespace clrscope::analysis
