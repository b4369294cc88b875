// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/route_matcher.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/families/requests/value_kinds.h"

namespace clrscope::analysis {
namespace {

// Of a segment without regard to case. Templates of one hash share a node, and are compared.
uint32_t HashSegment(std::string_view text) {
  uint32_t h = 0x811C9DC5u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(LowerAscii(c))) * 0x01000193u;
  return h;
}

}  // namespace

RouteMatcher::RouteMatcher() : nodes_(kMethods) {}

size_t RouteMatcher::MethodIndex(std::string_view method) {
  static constexpr std::string_view kKnown[kMethods - 1] = {
      "GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "CONNECT", "TRACE"};
  for (size_t i = 0; i < std::size(kKnown); ++i)
    if (EqualWithoutCase(kKnown[i], method)) return i;
  return kMethods - 1;
}

uint32_t RouteMatcher::NewNode() {
  nodes_.emplace_back();
  return static_cast<uint32_t>(nodes_.size() - 1);
}

uint32_t RouteMatcher::Add(std::string_view method, std::string_view text) {
  const size_t root = MethodIndex(method);
  std::string key(1, static_cast<char>('0' + root));
  key += text;
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  if (templates_.size() == kMostTemplates) return kNone;
  std::optional<RouteTemplate> route = RouteTemplate::Parse(text);
  if (!route) return kNone;
  const auto index = static_cast<uint32_t>(templates_.size());
  auto node = static_cast<uint32_t>(root);
  for (size_t i = 0;; ++i) {
    if (i < route->size() && route->IsCatchAll(i)) {
      nodes_[node].catch_all.push_back(index);
      break;
    }
    // One whose rest is a catch-all is tried there.
    const bool rest_is_optional =
        route->MayEndBefore(i) &&
        (route->size() == 0 || !route->IsCatchAll(route->size() - 1) || i + 1 < route->size());
    if (rest_is_optional) nodes_[node].here.push_back(index);
    if (i == route->size()) break;
    const std::optional<std::string_view> literal = route->Literal(i);
    if (literal) {
      const uint64_t edge = PairKey(node, HashSegment(*literal));
      uint32_t next = literals_.Find(edge);
      if (next == FlatMap::kNone) literals_.Set(edge, next = NewNode());
      node = next;
    } else {
      if (nodes_[node].any == kNone) {
        const uint32_t next = NewNode();
        nodes_[node].any = next;
      }
      node = nodes_[node].any;
    }
  }
  templates_.push_back({std::string(text), std::move(*route)});
  known_.emplace(std::move(key), index);
  return index;
}

RouteMatcher::Found RouteMatcher::Find(std::string_view method, std::string_view path,
                                       size_t skip) const {
  Found best;
  const RequestPath segments(path);
  Query query{segments, skip, false, {}};
  if (skip <= segments.size()) FindIn(MethodIndex(method), query, best);
  return best;
}

RouteMatcher::Found RouteMatcher::FindWithBase(std::string_view method,
                                               std::string_view path) const {
  Found best;
  const RequestPath segments(path);
  Query query{segments, 0, false, {}};
  const size_t root = MethodIndex(method);
  for (; query.skip <= kMostSkipped && query.skip <= segments.size() && !best; ++query.skip) {
    query.literals_only = query.skip > 0;
    FindIn(root, query, best);
  }
  return best;
}

void RouteMatcher::FindIn(size_t method, Query& query, Found& best) const {
  for (size_t i = query.skip; i < query.path.size(); ++i)
    query.hashes[i] = HashSegment(query.path[i]);
  Walk(static_cast<uint32_t>(method), query.skip, query, best);
}

// Not deeper than templates are long; each node at most once.
void RouteMatcher::Walk(uint32_t node, size_t at, const Query& query, Found& best) const {
  Try(nodes_[node].catch_all, query, best);
  if (at == query.path.size()) return Try(nodes_[node].here, query, best);
  const uint32_t literal = literals_.Find(PairKey(node, query.hashes[at]));
  if (literal != FlatMap::kNone) Walk(literal, at + 1, query, best);
  if (nodes_[node].any != kNone) Walk(nodes_[node].any, at + 1, query, best);
}

void RouteMatcher::Try(const std::vector<uint32_t>& indices, const Query& query,
                       Found& best) const {
  for (const uint32_t index : indices) {
    const RouteTemplate& route = templates_[index].route;
    if (query.literals_only && !route.HasLiteral()) continue;
    const int order = best ? route.rank().compare(templates_[best.index].route.rank()) : -1;
    if (order > 0) continue;
    const Fit fit = route.Match(query.path, query.skip);
    if (fit == Fit::kNo) continue;
    const bool certain = fit == Fit::kYes;
    // Two that fit for certain, the program refuses: one of two is then the one that is known to.
    if (order == 0 && certain == best.certain) {
      best.ambiguous = true;
      best.index = std::min(best.index, index);
    } else if (order < 0 || certain) {
      best = {index, static_cast<uint8_t>(query.skip), certain, false};
    }
  }
}

}  // namespace clrscope::analysis
